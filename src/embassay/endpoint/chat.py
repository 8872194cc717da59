"""The ``/chat/completions`` form that OpenAI began with: a prompt goes out, an answer comes back, and what it took."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from embassay.endpoint.answers import is_count, one_line
from embassay.endpoint.client import Endpoint
from embassay.endpoint.limits import chat_limit
from embassay.endpoint.spending import guess
from embassay.errors import EndpointError

PATH = "/chat/completions"
FILTERED, CUT_OFF, TOO_LONG, FAILED = "content_filter", "length", "context_length", "failed"
"""Finish reasons: withheld by the service, ended by the limit of tokens, a prompt that is longer than it reads, and one
that no attempt brought an answer to."""
LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
"""What the limit is called, and what the models call it that refuse the old name."""
TOO_LARGE = 413
"""The status of a request that is too large, whatever else is said."""
ABOUT_THE_PROMPT = frozenset({400, 403, 422, 451})
"""The statuses that may be about one prompt, so that the next may be answered."""
_WITHHELD = re.compile(r"content.(?:management|filter|policy)|flagged|moderation", re.I)
_TOO_LONG = re.compile(r"context.(?:length|window|size)|prompt is too long|maximum context", re.I)


@dataclass(frozen=True)
class Answer:
    """What came back.

    Attributes
    ----------
    text
        As the service sent it, several parts joined; empty where there is none.
    finish
        Why it ended: ``stop``, ``length``, ``content_filter`` …; ``context_length`` for a prompt that was too long.
    refused
        Whether the service itself says that the model refused, or withholds the answer.
    prompt_tokens, completion_tokens
        What it took, about so many where the service does not say or says 0; both 0 where nothing was generated.
    model
        The model that answered, by the name that the service gives it.
    """

    text: str = ""
    finish: str = ""
    refused: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""

    @property
    def tokens(self) -> int:
        """What it took in all."""
        return self.prompt_tokens + self.completion_tokens


class Chat:
    """A model that answers one prompt at a time and remembers none."""

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        temperature: float = 0.0,
        max_tokens: int = 512,
        seed: int | None = None,
    ):
        """Describe the model; nothing is sent yet.

        Parameters
        ----------
        temperature
            0 for the most likely answer, more for variety.
        max_tokens
            The most tokens of an answer.
        seed
            Sent along where there is one; few services promise anything for it.
        """
        self.endpoint, self.model = endpoint, model
        self.temperature, self.max_tokens, self.seed = temperature, max_tokens, seed
        self._limit = LIMIT

    def ask(self, prompt: str) -> Answer:
        """Send a prompt and return the answer; a prompt that the service refuses has one without a text.

        Raises
        ------
        EndpointError
            If there is no answer after all attempts, a LostError where that may be due to the prompt; or if it has
            another form.
        EncoderError
            If the budget does not suffice.
        """
        limit = self._limit
        payload: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self.temperature,
            limit: self.max_tokens,
        }
        payload |= {} if self.seed is None else {"seed": self.seed}
        try:
            found = self.endpoint.post(
                PATH,
                payload,
                guess(prompt) + self.max_tokens,
                used=lambda answer: sum(_took(answer, prompt)),
                limit=chat_limit(self.max_tokens),
            )
        except EndpointError as error:
            if error.status == 400 and limit == LIMIT and NEW_LIMIT in error.said:
                self._limit = NEW_LIMIT
                return self.ask(prompt)
            if error.status == TOO_LARGE or (error.status in ABOUT_THE_PROMPT and _TOO_LONG.search(error.said)):
                return Answer(finish=TOO_LONG)
            if error.status in ABOUT_THE_PROMPT and _WITHHELD.search(error.said):
                return Answer(finish=FILTERED, refused=True)
            raise
        return self._read(found, prompt)

    def _read(self, found: Any, prompt: str) -> Answer:
        try:
            choice = _choice(found)
            text = _text(choice)
        except ValueError as error:
            raise self.endpoint.error(str(error), 200, _written(found)) from None
        # What is read here is written to the journal, to samples and to data cards.
        finish, model = self._name(choice.get("finish_reason")), self._name(found.get("model"))
        said = _message(choice).get("refusal")
        refused = finish == FILTERED or (isinstance(said, str) and bool(said.strip()))
        return Answer(self.endpoint.hide(text), finish, refused, *_took(found, prompt), model)

    def _name(self, value: Any) -> str:
        """Return a name that the service gives, without secrets and on one line; empty for none."""
        return one_line(value, self.endpoint.hide) if isinstance(value, str) else ""


def whole_characters(text: str) -> str:
    """Return a text with halves of characters (lone surrogates) replaced, so that it can be written."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _written(found: Any) -> bytes:
    """Return JSON as it is written; empty where it is nested too deeply."""
    try:
        return json.dumps(found).encode()
    except RecursionError:
        return b""


def _choice(found: Any) -> dict[str, Any]:
    """Return the first choice, or an empty one where there is none.

    Raises
    ------
    ValueError
        If it is no answer of a chat.
    """
    choices = found.get("choices") if isinstance(found, dict) else None
    if not isinstance(choices, list):
        raise ValueError("it is no answer of a chat; look at base_url")
    if choices and not isinstance(choices[0], dict):
        raise ValueError("its first choice has another form than a chat's")
    return choices[0] if choices else {}


def _message(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice.get("message")
    return message if isinstance(message, dict) else {}


def _text(choice: dict[str, Any]) -> str:
    """Return the text of a choice; its parts joined where it has several."""
    content = _message(choice).get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    if content is not None and not isinstance(content, str):
        raise ValueError("the content of its message is no text")
    return whole_characters(content or "")


def _took(found: Any, prompt: str) -> tuple[int, int]:
    """Return the tokens of prompt and answer; what the service does not say, or says to be 0, is guessed.

    Some local servers report 0 of everything.
    """
    usage = found.get("usage") if isinstance(found, dict) else None
    counts = usage if isinstance(usage, dict) else {}
    asked, told, total = (_count(counts.get(n)) for n in ("prompt_tokens", "completion_tokens", "total_tokens"))
    asked = asked or guess(prompt)
    # A total may hold tokens of reasoning that are not counted with the answer.
    return asked, max(told or 0, (total or 0) - asked) or _guessed(found)


def _guessed(found: Any) -> int:
    """Return about how many tokens an answer is, 0 for an empty one or none."""
    try:
        text = _text(_choice(found))
    except ValueError:
        return 0
    return guess(text) if text else 0


def _count(value: Any) -> int | None:
    return value if is_count(value) else None
