"""A generator behind a chat endpoint: answers in its journal are reused, other prompts are sent."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

from annotated_types import Ge, Le

from embassay.core.errors import EncoderError, EndpointError, MissingExtraError, SpecError
from embassay.core.formatting import counted
from embassay.core.types import content_hash
from embassay.models.limits import Amount, AmountOrZero, Count
from embassay.models.services.chat import FAILED, Chat, ChatAnswer
from embassay.models.services.service import OPENAI_KEY, Service
from embassay.run.specs import bind, parse
from embassay.testsets.base import Advance, Resource, silent
from embassay.testsets.generator.answers import cleaned, problem_of
from embassay.testsets.generator.base import Reply, Request
from embassay.testsets.generator.journal import Journal

WRONG_SPEC = frozenset({401, 403, 404})
"""The statuses of a wrong key, model or address."""
IN_A_ROW = 8
"""A build stops after this many consecutive failed requests: then the service fails, not a prompt."""


class ChatGenerator:
    """A model behind a chat endpoint; its answers are kept in a journal, so that none is paid for twice."""

    def __init__(self, chat: Chat, journal: Journal):
        """Describe the generator; nothing is read or sent yet."""
        self.chat = chat
        self.journal = journal
        self.name = f"{chat.model} at {chat.service.host}"
        # The number of answers that an earlier build has paid for.
        self._taken = 0
        # The hashes of the requests whose tokens are counted already.
        self._counted = set[str]()
        # Failures since the last answer.
        self._failures = list[EndpointError]()
        self._models = set[str]()

    def replies(self, requests: Sequence[Request], advance: Advance = silent) -> tuple[Reply, ...]:
        """Return a reply to each request, in their order; the same prompt is sent once.

        Several requests are sent at a time, each is repeated where that may help, and each answer is written into the
        journal on arrival. A request without an answer after all attempts becomes a reply with a problem, unless all
        requests fail, or eight in a row.

        Raises
        ------
        SpecError
            If the service rejects the key, model or path.
        EncoderError
            If it fails, or the budget is exceeded; the message says what is kept.
        OutputError
            If the journal cannot be written.
        """
        prompts = list(dict.fromkeys(request.prompt for request in requests))
        try:
            answers = self._answers(prompts, advance)
        except EncoderError as error:
            message = f"generator {self.chat.model!r}: {error}"
            if self.journal.answers and self.journal.path is not None:
                message += f"; the answers so far are kept in {self.journal.path}; repeat the command to continue"
            # The exit code of the command differs: the user can mend a spec, not a service.
            if isinstance(error, EndpointError) and error.status in WRONG_SPEC:
                raise SpecError(message) from None
            raise EncoderError(message) from None
        self._models.update(answer.model for answer in answers.values() if answer.model)
        replies = list[Reply]()
        for request in requests:
            answer = answers[request.prompt]
            problem = problem_of(answer, request.prompt)
            replies.append(Reply(request.key, "" if problem else cleaned(answer.text), problem))
        return tuple(replies)

    def material(self) -> Resource:
        """Return model and host; the version is the model's name as returned by the service."""
        chat = self.chat
        spec = f"{chat.model},base_url={chat.service.url},temperature={chat.temperature:g},max_tokens={chat.max_tokens}"
        if chat.seed is not None:
            spec += f",seed={chat.seed}"
        version = ", ".join(sorted(self._models - {chat.model}))
        return Resource(self.name, version, "the terms of its service", f"texts ({spec})")

    def notes(self) -> tuple[str, ...]:
        """Return requests, tokens and cost of this build, and how many answers were taken from the journal."""
        spending = self.chat.service.spending
        note = f"{self.name} answered {counted(spending.requests, 'request')}: about {spending.tokens:,} tokens"
        if spending.cost is not None:
            note += f", cost {spending.cost:.4g} at {spending.price:g} per million"
        if self._taken:
            note += f"; taken from the journal of an earlier build: {counted(self._taken, 'answer')}"
        return (f"{note}.",)

    def _answers(self, prompts: Sequence[str], advance: Advance) -> dict[str, ChatAnswer]:
        """Return the answer to each prompt: from the journal, else from the service."""
        self._failures.clear()
        self.journal.read()
        answers = dict[str, ChatAnswer]()
        for prompt in prompts:
            request = self._hash(prompt)
            if kept := self.journal.answers.get(request):
                answers[prompt] = kept
                if request not in self._counted:
                    # The cost of this request in an earlier build counts towards the budget.
                    self._counted.add(request)
                    self._taken += 1
                    self.chat.service.spending.earlier += kept.tokens
        missing = [prompt for prompt in prompts if prompt not in answers]
        advance(len(answers), len(prompts))
        with closing(self.chat.service.each(self._ask, missing)) as results:
            for place, answer, _ in results:
                answers[missing[place]] = answer
                advance(len(answers), len(prompts))
        if self._failures and all(answer.finish == FAILED for answer in answers.values()):
            raise self._failures[-1]
        return answers

    async def _ask(self, prompt: str) -> ChatAnswer:
        """Ask for one answer; return an empty one that is marked as failed where no attempt brings one."""
        try:
            answer = await self.chat.ask(prompt)
        except EndpointError as error:
            if error.kind not in ("failed", "lost"):
                raise
            self._failures.append(error)
            if len(self._failures) >= IN_A_ROW:
                raise
            return ChatAnswer(finish=FAILED)
        self._failures.clear()
        request = self._hash(prompt)
        self._counted.add(request)
        # As it arrives, so that an interrupt does not lose received answers.
        self.journal.keep(request, answer)
        return answer

    def _hash(self, prompt: str) -> str:
        """Return the hash of everything that an answer depends on."""
        chat = self.chat
        return content_hash([chat.model, chat.service.place, chat.temperature, chat.max_tokens, prompt, chat.seed])


# --- From a spec to a generator ---


def generator(spec: str, journal: Path | None) -> ChatGenerator:
    """Make the generator that a spec names; nothing is sent yet.

    Parameters
    ----------
    spec
        ``MODEL[,option=value…]``; the options are those of :func:`create`.
    journal
        The file where answers are kept and looked up; None to keep them in memory only.

    Raises
    ------
    InputError
        If the spec, an option or the key is wrong or missing, or the extra is not installed.
    """
    parsed = parse(spec, "generator")
    if parsed.label is not None:
        raise SpecError("generator: name the model first; write MODEL[,option=value…]")
    if importlib.util.find_spec("httpx2") is None:
        raise MissingExtraError("the generator", "api")
    return create(parsed.head, journal, **bind(create, parsed.options, f"generator {parsed.head!r}"))


def create(
    model: str,
    journal: Path | None,
    *,
    base_url: str = "",
    key_env: str = OPENAI_KEY,
    temperature: Annotated[float, Ge(0), Le(2)] = 0.0,
    max_tokens: Count = 512,
    seed: int | None = None,
    price: AmountOrZero | None = None,
    budget: Amount | None = None,
    concurrency: Count = 4,
    timeout: Amount = 120.0,
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
        The maximum number of tokens of an answer.
    seed
        Sent with each request if set; few services guarantee an effect.
    price, budget
        What a million tokens cost (the dearer price, where answers cost more), and the most money to spend in a build:
        answers to its requests that the journal has are counted with it.
    concurrency
        The maximum number of concurrent requests.
    timeout
        Seconds for one attempt, from connecting to the last byte of the answer.

    Raises
    ------
    SpecError
        If the key is missing, or would be sent unencrypted, or there is a budget and no price.
    """
    place = f"generator {model!r}"
    service = Service(place, base_url, key_env, timeout=timeout, concurrency=concurrency, price=price, budget=budget)
    return ChatGenerator(Chat(service, model, temperature, max_tokens, seed), Journal(journal))
