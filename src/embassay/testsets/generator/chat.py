"""A generator behind a chat endpoint: what it was asked before is taken from its journal, the rest is sent."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from embassay.endpoint import Retries
from embassay.endpoint.access import OPENAI, OPENAI_KEY, check_amounts, check_whole, open_endpoint
from embassay.endpoint.attempts import LostError
from embassay.endpoint.chat import FAILED, Answer, Chat
from embassay.endpoint.spending import Spending, guess
from embassay.errors import EncoderError, EndpointError, MissingExtraError, SpecError
from embassay.run.specs import bind, parse
from embassay.testsets.base import Advance, Material, silent
from embassay.testsets.generator.answers import Instructions, cleaned, problem_of
from embassay.testsets.generator.base import Generator, Reply, Request
from embassay.testsets.generator.journal import Journal
from embassay.types import content_hash

WRONG_SPEC = frozenset({401, 403, 404})
"""The statuses that a wrong key, model or address has."""
IN_A_ROW = 8
"""Requests without an answer, and with none between them, that end a build: then it is the service, not a prompt."""


@dataclass(frozen=True)
class ChatGenerator:
    """A model behind a chat endpoint; its answers are kept in a journal, and none is paid for twice.

    Attributes
    ----------
    asked, taken
        The hashes of what the service was asked for, and of what was in the journal before.
    lost
        The failures of the requests since the last answer.
    models
        The models that answered, by the names that the service gives them.
    """

    chat: Chat
    journal: Journal = field(default_factory=Journal, repr=False)
    asked: set[str] = field(default_factory=set, repr=False, compare=False)
    taken: set[str] = field(default_factory=set, repr=False, compare=False)
    lost: list[LostError] = field(default_factory=list, repr=False, compare=False)
    models: set[str] = field(default_factory=set, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Model and host."""
        return f"{self.chat.model} at {self.chat.endpoint.address.host}"

    @property
    def spec_shown(self) -> str:
        """The spec without secrets: model, address, and all that its answers depend on."""
        chat, shown = self.chat, self.chat.endpoint.address.shown
        options = [] if shown == OPENAI else [f"base_url={shown}"]
        options += [f"temperature={chat.temperature:g}", f"max_tokens={chat.max_tokens}"]
        options += [] if chat.seed is None else [f"seed={chat.seed}"]
        return ",".join([chat.model, *options])

    def replies(self, requests: Sequence[Request], advance: Advance = silent) -> tuple[Reply, ...]:
        """Return a reply to each request, in their order; the same prompt is sent once.

        Several requests are under way at a time, each is sent again where that may help, and each answer is written
        into the journal as it comes. One that no attempt brings an answer to is a reply with a problem, unless all are,
        or eight in a row.

        Raises
        ------
        SpecError
            If the service knows no such key, model or path.
        EncoderError
            If it fails, or the budget does not suffice; the message says what is kept.
        OutputError
            If the journal cannot be written, or another build holds it.
        """
        if not requests:
            return ()
        wanted = {request.prompt: self._hash(request.prompt) for request in requests}
        with self.journal.held():
            found = self._answers(wanted, Counter(request.prompt for request in requests), advance)
        instructions = Instructions.of(wanted)
        self.models.update(answer.model for answer in found.values() if answer.model)
        return tuple(_reply(request, found[request.prompt], instructions) for request in requests)

    def estimate(self, requests: Sequence[Request]) -> tuple[int, float | None]:
        """Return about how many tokens requests will take, and what they cost where the price is known.

        Nothing is sent, and what is in the journal is not counted. A prompt has a token for every four bytes in UTF-8.
        An answer has as many tokens as those to these requests in the journal have on average, without any half of
        ``max_tokens``.
        """
        self.journal.read()
        hashes = {request.prompt: self._hash(request.prompt) for request in requests}
        known = [self.journal.answers[h] for h in hashes.values() if h in self.journal.answers]
        told = [answer.completion_tokens for answer in known if answer.tokens]
        each = round(sum(told) / len(told)) if told else self.chat.max_tokens // 2
        total = sum(guess(prompt) + each for prompt, h in hashes.items() if h not in self.journal.answers)
        return total, self.chat.endpoint.spending.cost_of(total)

    def material(self) -> Material:
        """Return model and host, with the model's name as the service gives it for a version."""
        said = ", ".join(sorted(self.models - {self.chat.model}))
        return Material(self.name, said, "the terms of its service", f"texts ({self.spec_shown})")

    def notes(self) -> tuple[str, ...]:
        """Return requests, tokens and cost of this build, and how many answers were taken from the journal."""
        spent = self.chat.endpoint.spending
        cost = "" if spent.cost is None else f", {spent.cost:.4g} at {spent.price:g} a million"
        again = f"; {spent.retries:,} requests were sent again" if spent.retries else ""
        again += f"; {spent.lost:,} answers that were lost are counted at their longest" if spent.lost else ""
        asked = f"{self.name} answered {spent.requests:,} requests: about {spent.tokens:,} tokens{cost}{again}."
        if not self.taken:
            return (asked,)
        taken = f"{len(self.taken):,} answers of {self.name} were taken from the journal of an earlier build."
        return (asked, taken) if spent.requests or spent.retries else (taken,)

    def _answers(self, wanted: Mapping[str, str], times: Counter[str], advance: Advance) -> dict[str, Answer]:
        """Return the answer to each prompt: from the journal, else from the service."""
        known = self.journal.answers
        found = {prompt: known[request] for prompt, request in wanted.items() if request in known}
        missing = [prompt for prompt in wanted if prompt not in found]
        self._take({wanted[prompt] for prompt in found} - self.asked - self.taken)
        done, total = sum(times[prompt] for prompt in found), times.total()
        advance(done, total)
        with self._explained(wanted), closing(self.chat.endpoint.each(self._ask, missing)) as answers:
            for place, answer in answers:
                found[missing[place]] = answer
                done += times[missing[place]]
                advance(done, total)
            if self.lost and all(answer.finish == FAILED for answer in found.values()):
                raise self.lost[-1]
        return found

    def _take(self, requests: Set[str]) -> None:
        """Count answers of the journal: what they took is a part of what the build may spend."""
        self.taken.update(requests)
        self.chat.endpoint.spending.begin_with(sum(self.journal.answers[request].tokens for request in requests))

    def _ask(self, prompt: str) -> Answer:
        """Ask for one answer; a prompt that the service fails on, and others not, has one that says so."""
        try:
            answer = self.chat.ask(prompt)
        except LostError as error:
            self.lost.append(error)
            if len(self.lost) >= IN_A_ROW:
                raise
            return Answer(finish=FAILED)
        self.lost.clear()
        request = self._hash(prompt)
        self.asked.add(request)
        # In the thread that asked: an interrupt does not lose what has come.
        self.journal.keep(request, answer)
        return answer

    @contextmanager
    def _explained(self, wanted: Mapping[str, str]) -> Iterator[None]:
        """Name the generator in a failure, and say what is kept."""
        place = f"generator {self.chat.model!r}"
        self.lost.clear()
        try:
            yield
        except EndpointError as error:
            kind = SpecError if error.status in WRONG_SPEC else EncoderError
            row = f"{len(self.lost)} requests in a row have no answer; the last: " if len(self.lost) > 1 else ""
            raise kind(f"{place}: {row if isinstance(error, LostError) else ''}{error}{self._kept(wanted)}") from None
        except EncoderError as error:
            raise EncoderError(f"{place}: {error}") from None
        finally:
            self.chat.endpoint.close()

    def _kept(self, wanted: Mapping[str, str]) -> str:
        known = sum(request in self.journal.answers for request in wanted.values())
        if not known or self.journal.path is None:
            return ""
        kept = f"{known:,} of {len(wanted):,} answers are kept in {self.journal.path}"
        return f"; {kept}: the same command goes on from there"

    def _hash(self, prompt: str) -> str:
        """Return the hash of all that an answer depends on."""
        chat, place = self.chat, self.chat.endpoint.address.place
        seed = [] if chat.seed is None else [chat.seed]
        return content_hash([chat.model, place, chat.temperature, chat.max_tokens, prompt, *seed])


def _reply(request: Request, answer: Answer, instructions: Instructions) -> Reply:
    problem = problem_of(answer, request.prompt, instructions)
    return Reply(request.key, problem=problem) if problem else Reply(request.key, cleaned(answer.text))


# --- Sentences that a model writes: prompts go to a chat endpoint, answers come back, are judged, and are ---

__all__ = ["ChatGenerator", "Generator", "Reply", "Request", "create", "generator"]
EXTRA, REQUIRES = "api", ("httpx2", "tenacity")
RETRIES = Retries()


def generator(spec: str, journal: Path | None) -> ChatGenerator:
    """Make the generator that a spec names; nothing is sent yet.

    Parameters
    ----------
    spec
        ``MODEL[,option=value…]``; the options are those of :func:`create`.
    journal
        The file that answers are kept in and taken from; None to keep them in memory only.

    Raises
    ------
    InputError
        If the spec, an option or the key is wrong or missing, or the extra is not installed.
    """
    parsed = parse(spec, "generator")
    if parsed.label is not None:
        raise SpecError("generator: the model comes first; write MODEL[,option=value…]")
    if any(importlib.util.find_spec(package) is None for package in REQUIRES):
        raise MissingExtraError("the generator", EXTRA)
    return create(parsed.head, journal, **bind(create, parsed.options, f"generator {parsed.head!r}"))


def create(
    model: str,
    journal: Path | None,
    *,
    base_url: str = "",
    key_env: str = OPENAI_KEY,
    temperature: float = 0.0,
    max_tokens: int = 512,
    seed: int | None = None,
    price: float | None = None,
    budget: float | None = None,
    concurrency: int = 4,
    timeout: float = 120.0,
) -> ChatGenerator:
    """Describe a model and its service; nothing is sent yet.

    Parameters
    ----------
    base_url
        Its address, without ``/chat/completions``; ``$OPENAI_BASE_URL`` by default, else OpenAI's.
    key_env
        The name of the environment variable that holds the key; ``key_env=`` sends none.
    temperature
        0 for the most likely answer, up to 2 for more variety.
    max_tokens
        The most tokens of an answer.
    seed
        Sent along where one is given; few services promise anything for it.
    price, budget
        What a million tokens cost (the dearer price, where answers cost more), and the most money to spend in a build:
        answers to its requests that the journal has are counted with it.
    concurrency
        The most requests under way at a time.
    timeout
        Seconds for one attempt, from connecting to the last byte of the answer.

    Raises
    ------
    SpecError
        If an option is out of range, the key is missing, or it would travel unencrypted.
    """
    place = f"generator {model!r}"
    check_whole(place, max_tokens=max_tokens, concurrency=concurrency)
    check_amounts(place, price=price, budget=budget, timeout=timeout)
    if not 0 <= temperature <= 2:
        raise SpecError(f"{place}, option 'temperature': must be from 0 to 2, is {temperature}")
    if budget is not None and price is None:
        raise SpecError(f"{place}, option 'budget': say the price of a million tokens too, price=")
    kept = f"answers are kept in {journal}" if journal else ""
    spending = Spending(price, budget, kept)
    endpoint = open_endpoint(
        place, base_url, key_env, timeout=timeout, concurrency=concurrency, retries=RETRIES, spending=spending
    )
    return ChatGenerator(Chat(endpoint, model, temperature, max_tokens, seed), Journal(journal))
