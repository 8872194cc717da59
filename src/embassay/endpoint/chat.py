"""The ``/chat/completions`` form that OpenAI began with: a prompt goes out, an answer comes back, and what it took."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from embassay.endpoint.answers import is_count, one_line
from embassay.endpoint.client import Endpoint
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
REASONING_BYTES, TOKEN_BYTES = 1 << 20, 256
"""Bytes of an answer besides its text (reasoning above all), and of a token of text at most: some are 20 characters
long, and an escaped character is 12 bytes."""
_WITHHELD = re.compile(r"content.(?:management|filter|policy)|flagged|moderation", re.I)
_TOO_LONG = re.compile(r"context.(?:length|window|size)|prompt is too long|maximum context", re.I)


@dataclass(frozen=True)
class Answer:
    """What came back.

    Attributes
    ----------
    text
        As the service sent it, several parts joined; empty if there is none.
    finish
        Why it ended: ``stop``, ``length``, ``content_filter`` …; ``context_length`` for a prompt that was too long.
    refused
        Whether the service itself says that the model refused, or withholds the answer.
    prompt_tokens, completion_tokens
        What it took, estimated where the service does not say or says 0; both 0 where nothing was generated.
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
        self.endpoint = endpoint
        self.model = model
        self.temperature = temperature
        self.max_tokens = max_tokens
        self.seed = seed
        self._limit_name = LIMIT

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
        limit_name = self._limit_name
        payload: dict[str, object] = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self.temperature,
            limit_name: self.max_tokens,
        }
        if self.seed is not None:
            payload["seed"] = self.seed
        try:
            received = self.endpoint.post(
                PATH,
                payload,
                guess(prompt) + self.max_tokens,
                used=lambda answer: sum(_tokens_used(answer, prompt)),
                longest=REASONING_BYTES + self.max_tokens * TOKEN_BYTES,
            )
        except EndpointError as error:
            if error.status == 400 and limit_name == LIMIT and NEW_LIMIT in error.said:
                # Newer models refuse the old name: the new one is used from now on.
                self._limit_name = NEW_LIMIT
                return self.ask(prompt)
            may_be_the_prompt = error.status in ABOUT_THE_PROMPT
            if error.status == TOO_LARGE or (may_be_the_prompt and _TOO_LONG.search(error.said)):
                return Answer(finish=TOO_LONG)
            if may_be_the_prompt and _WITHHELD.search(error.said):
                return Answer(finish=FILTERED, refused=True)
            raise
        return self._read(received, prompt)

    def _read(self, received: object, prompt: str) -> Answer:
        try:
            choice = _first_choice(received)
            text = _text(choice)
        except ValueError as error:
            raise self.endpoint.error(str(error), 200, _as_json(received)) from None
        # What is read here is written to the journal, to samples and to data cards: it must hold no secret.
        finish = self._name(choice.get("finish_reason"))
        refusal = _message(choice).get("refusal")
        says_it_refuses = isinstance(refusal, str) and bool(refusal.strip())
        prompt_tokens, completion_tokens = _tokens_used(received, prompt)
        return Answer(
            text=self.endpoint.hide(text),
            finish=finish,
            refused=finish == FILTERED or says_it_refuses,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            model=self._name(received.get("model") if isinstance(received, dict) else None),
        )

    def _name(self, value: object) -> str:
        """Return a name that the service gives, without secrets and on one line; empty for none."""
        return one_line(value, self.endpoint.hide) if isinstance(value, str) else ""


def whole_characters(text: str) -> str:
    """Return a text with halves of characters (lone surrogates) replaced, so that it can be written."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _as_json(received: object) -> bytes:
    """Return JSON as text; empty if it is nested too deeply."""
    try:
        return json.dumps(received).encode()
    except RecursionError:
        return b""


def _first_choice(received: object) -> dict[str, object]:
    """Return the first choice, or an empty one where there is none.

    Raises
    ------
    ValueError
        If it is no answer of a chat.
    """
    choices = received.get("choices") if isinstance(received, dict) else None
    if not isinstance(choices, list):
        raise ValueError("the answer is not a chat completion; check base_url")
    if not choices:
        return {}
    if not isinstance(choices[0], dict):
        raise ValueError("the first choice of the answer is not a chat message")
    return choices[0]


def _message(choice: dict[str, object]) -> dict[str, object]:
    message = choice.get("message")
    return message if isinstance(message, dict) else {}


def _text(choice: dict[str, object]) -> str:
    """Return the text of a choice; its parts joined where it has several."""
    content = _message(choice).get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str))
    if content is None:
        return ""
    if not isinstance(content, str):
        raise ValueError("the content of the answer's message is not a text")
    return whole_characters(content)


def _tokens_used(received: object, prompt: str) -> tuple[int, int]:
    """Return the tokens of prompt and answer; what the service does not say, or says to be 0, is estimated.

    Some local servers report 0 of everything.
    """
    usage = received.get("usage") if isinstance(received, dict) else None
    if not isinstance(usage, dict):
        usage = {}
    prompt_tokens = _count(usage, "prompt_tokens") or guess(prompt)
    # A total may hold tokens of reasoning that are not counted with the answer.
    remainder = _count(usage, "total_tokens") - prompt_tokens
    completion_tokens = max(_count(usage, "completion_tokens"), remainder)
    return prompt_tokens, completion_tokens or _estimated_tokens(received)


def _count(usage: dict[str, object], name: str) -> int:
    """Return a number of tokens; 0 if there is none."""
    value = usage.get(name)
    return value if is_count(value) else 0


def _estimated_tokens(received: object) -> int:
    """Return about how many tokens an answer is, 0 for an empty one or none."""
    try:
        text = _text(_first_choice(received))
    except ValueError:
        return 0
    return guess(text) if text else 0
