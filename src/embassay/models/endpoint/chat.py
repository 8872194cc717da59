"""The protocol of OpenAI's ``/chat/completions``: a prompt, its answer, and the tokens used."""

from __future__ import annotations

import re
from dataclasses import dataclass

from embassay.core.errors import EndpointError
from embassay.models.endpoint.answers import is_count, one_line
from embassay.models.endpoint.client import Endpoint
from embassay.models.endpoint.spending import guess

PATH = "/chat/completions"
FILTERED, CUT_OFF, TOO_LONG, FAILED = "content_filter", "length", "context_length", "failed"
"""Finish reasons: withheld by the service, ended at the token limit, prompt too long, no answer after all attempts."""
LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
"""The name of the token limit, and its name for newer models, which reject the old one."""
TOO_LARGE = 413
"""The HTTP status of a request that is too large."""
ABOUT_THE_PROMPT = frozenset({400, 403, 422, 451})
"""HTTP statuses that may be caused by one prompt, so that other prompts may be answered."""
REASONING_BYTES, TOKEN_BYTES = 1 << 20, 256
"""Maximum bytes of an answer without its text (mostly reasoning), and of a token of text: a token may have 20
characters, and an escaped character has 12 bytes."""
_WITHHELD = re.compile(r"content.(?:management|filter|policy)|flagged|moderation", re.I)
_TOO_LONG = re.compile(r"context.(?:length|window|size)|prompt is too long|maximum context", re.I)


@dataclass(frozen=True)
class ChatAnswer:
    """The answer to a prompt.

    Attributes
    ----------
    text
        The text of the service, with its parts joined; empty if there is none.
    finish
        The finish reason: ``stop``, ``length``, ``content_filter`` …; ``context_length`` for a prompt that is too long.
    refused
        Whether the service reports that the model refused, or withholds the answer.
    prompt_tokens, completion_tokens
        Number of tokens used, estimated if the service reports none or 0; both 0 if nothing was generated.
    model
        The name of the model that answered, as the service reports it.
    """

    text: str = ""
    finish: str = ""
    refused: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""

    @property
    def tokens(self) -> int:
        """The total number of tokens used."""
        return self.prompt_tokens + self.completion_tokens


@dataclass
class Chat:
    """A chat model. Each prompt is answered independently of the others.

    Attributes
    ----------
    temperature
        0 for the most likely answer, more for variety.
    max_tokens
        Maximum number of tokens of an answer.
    seed
        A seed for the service; None to send none. Few services guarantee reproducible answers.
    """

    endpoint: Endpoint
    model: str
    temperature: float = 0.0
    max_tokens: int = 512
    seed: int | None = None
    _limit_name: str = LIMIT

    def ask(self, prompt: str) -> ChatAnswer:
        """Send a prompt and return the answer. A prompt that the service rejects has an answer without a text.

        Raises
        ------
        EndpointError
            If there is no answer after all attempts (a LostError if that may be due to the prompt), or if it is not an
            answer of a chat.
        EncoderError
            If the budget would be exceeded.
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
                used=lambda answer: self._read(answer, prompt).tokens,
                longest=REASONING_BYTES + self.max_tokens * TOKEN_BYTES,
            )
        except EndpointError as error:
            if error.status == 400 and limit_name == LIMIT and NEW_LIMIT in error.said:
                # Newer models reject the old name, so the new one is used from now on.
                self._limit_name = NEW_LIMIT
                return self.ask(prompt)
            may_be_the_prompt = error.status in ABOUT_THE_PROMPT
            if error.status == TOO_LARGE or (may_be_the_prompt and _TOO_LONG.search(error.said)):
                return ChatAnswer(finish=TOO_LONG)
            if may_be_the_prompt and _WITHHELD.search(error.said):
                return ChatAnswer(finish=FILTERED, refused=True)
            raise
        return self._read(received, prompt)

    def _read(self, received: object, prompt: str) -> ChatAnswer:
        """Return an answer without secrets: it is written to the journal, to samples and to data cards."""
        answer = received if isinstance(received, dict) else {}
        choice = self._first_choice(answer)
        message = choice.get("message")
        if not isinstance(message, dict):
            message = {}
        text = _text(message.get("content"))
        finish = self._name(choice.get("finish_reason"))
        prompt_tokens, completion_tokens = _tokens_used(answer.get("usage"), prompt, text)
        return ChatAnswer(
            text=self.endpoint.hide(text),
            finish=finish,
            refused=finish == FILTERED or bool(message.get("refusal")),
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            model=self._name(answer.get("model")),
        )

    def _first_choice(self, answer: dict[str, object]) -> dict[str, object]:
        """Return the first choice of an answer; empty if it has none."""
        choices = answer.get("choices")
        if not isinstance(choices, list):
            raise self.endpoint.error("the answer is not a chat completion; check base_url", 200)
        choice = choices[0] if choices else {}
        if not isinstance(choice, dict):
            raise self.endpoint.error("the first choice of the answer is not a chat message", 200)
        return choice

    def _name(self, value: object) -> str:
        """Return a name in an answer without secrets and on one line; empty if it is not a text."""
        return one_line(value, self.endpoint.hide) if isinstance(value, str) else ""


def _text(content: object) -> str:
    """Return the text of a message's content, with its parts joined; empty if there is none."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str):
        return ""
    # Lone surrogates are replaced, so that the text can be written to a file.
    return content.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _tokens_used(usage: object, prompt: str, text: str) -> tuple[int, int]:
    """Return (tokens of the prompt, tokens of the answer). A number that is missing or 0 is estimated.

    Some local servers report 0 for everything.
    """
    counts = {}
    if isinstance(usage, dict):
        counts = {name: count for name, count in usage.items() if is_count(count)}
    prompt_tokens = counts.get("prompt_tokens") or guess(prompt)
    # The total may include tokens of reasoning that are not counted as part of the answer.
    remainder = counts.get("total_tokens", 0) - prompt_tokens
    completion_tokens = max(counts.get("completion_tokens", 0), remainder)
    if completion_tokens <= 0 and text:
        completion_tokens = guess(text)
    return prompt_tokens, max(completion_tokens, 0)
