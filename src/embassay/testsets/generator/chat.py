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
from embassay.testsets.generator.answers import reply_of
from embassay.testsets.generator.base import Reply
from embassay.testsets.generator.journal import Journal

IN_A_ROW = 8
"""A build stops after this many consecutive failed requests: then the service fails, not a prompt."""


def generator(spec: str, journal: Path | None) -> ChatGenerator:
    """Make the generator that a spec names; nothing is sent yet.

    Parameters
    ----------
    spec
        ``MODEL[,option=value…]``; the options are those of :class:`ChatGenerator`.
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
    options = bind(ChatGenerator.__init__, parsed.options, f"generator {parsed.head!r}")
    return ChatGenerator(parsed.head, journal, **options)


class ChatGenerator:
    """A model behind a chat endpoint; its answers are kept in a journal, so that none is paid for twice."""

    def __init__(
        self,
        model: str,
        journal: Path | None,
        *,
        base_url: str = "",
        key_env: str = OPENAI_KEY,
        temperature: Annotated[float, Ge(0), Le(2)] = 0.0,
        max_tokens: Count = 512,
        price: AmountOrZero | None = None,
        budget: Amount | None = None,
        concurrency: Count = 4,
        timeout: Amount = 120.0,
    ):
        """Describe a model and its service; nothing is read or sent yet.

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
        price, budget
            What a million tokens cost (the dearer price, where answers cost more), and the most money to spend in a
            build.
        concurrency
            The maximum number of concurrent requests.
        timeout
            Seconds for one attempt, from connecting to the last byte of the answer.

        Raises
        ------
        SpecError
            If the key is missing, or would be sent unencrypted, or there is a budget and no price.
        """
        what = f"generator {model!r}"
        service = Service(what, base_url, key_env, timeout=timeout, concurrency=concurrency, price=price, budget=budget)
        self.chat = Chat(service, model, temperature, max_tokens)
        self.journal = Journal(journal)
        self.name = f"{model} at {service.host}"
        # Since the last answer.
        self._failures = list[EndpointError]()

    def replies(self, prompts: Sequence[str], advance: Advance = silent) -> list[Reply]:
        """Return a reply to each prompt, in their order; the same prompt is sent once.

        Several are sent at a time, each is repeated where that may help, and each answer is written into the journal on
        arrival. A prompt without an answer after all attempts becomes a reply with a problem, unless none has one, or
        eight in a row have none.

        Raises
        ------
        EncoderError
            If the service fails, or the budget is exceeded; the message says what is kept.
        OutputError
            If the journal cannot be written.
        """
        self.journal.read()
        answers = self.journal.answers
        missing = [prompt for prompt in dict.fromkeys(prompts) if self._hash(prompt) not in answers]
        self._failures.clear()
        try:
            with closing(self.chat.service.each(self._ask, missing)) as results:
                for done, _ in enumerate(results, 1):
                    advance(done, len(missing))
            if self._failures and not answers:
                raise self._failures[-1]
        except EncoderError as error:
            if answers:
                error.args = (f"{error}; answers are kept in {self.journal.path}: repeat the command to continue",)
            raise
        failed = ChatAnswer(finish=FAILED)
        return [reply_of(answers.get(self._hash(prompt), failed), prompt) for prompt in prompts]

    def material(self) -> Resource:
        """Return model and host; the version is the model's name as returned by the service."""
        chat = self.chat
        spec = f"{chat.model},base_url={chat.service.url},temperature={chat.temperature:g},max_tokens={chat.max_tokens}"
        versions = {answer.model for answer in self.journal.answers.values()} - {"", chat.model}
        return Resource(self.name, ", ".join(sorted(versions)), "the terms of its service", f"texts ({spec})")

    def notes(self) -> tuple[str, ...]:
        """Return requests, tokens and cost of this build."""
        spending = self.chat.service.spending
        note = f"{self.name} answered {counted(spending.requests, 'request')}: about {spending.tokens:,} tokens"
        if spending.cost is not None:
            note += f", cost {spending.cost:.4g} at {spending.price:g} per million"
        return (f"{note}.",)

    async def _ask(self, prompt: str) -> None:
        """Ask for one answer, and keep it; where no attempt brings one, there is none."""
        try:
            answer = await self.chat.ask(prompt)
        except EndpointError as error:
            self._failures.append(error)
            if error.kind not in ("failed", "lost") or len(self._failures) == IN_A_ROW:
                raise
            return
        self._failures.clear()
        # As it arrives, so that an interrupt does not lose received answers.
        self.journal.keep(self._hash(prompt), answer)

    def _hash(self, prompt: str) -> str:
        """Return the hash of everything that an answer depends on."""
        chat = self.chat
        return content_hash([chat.model, chat.service.place, chat.temperature, chat.max_tokens, prompt])
