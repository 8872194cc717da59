"""The protocol of OpenAI's ``/chat/completions``: a prompt, its answer, and the tokens used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from embassay.core.errors import EndpointError
from embassay.models.services.service import Service, used_tokens
from embassay.models.services.spending import guess

FILTERED, CUT_OFF, TOO_LONG, FAILED = "content_filter", "length", "context_length", "failed"
"""Finish reasons: withheld by the service, ended at the token limit, prompt too long, no answer after all attempts."""
LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
"""The name of the token limit, and its name for newer models, which reject the old one."""
ABOUT_THE_PROMPT = (400, 403, 422, 451)
"""HTTP statuses that may be caused by one prompt, so that other prompts may be answered."""
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
    tokens
        Number of tokens used, estimated if the service reports none or 0; 0 if nothing was generated.
    model
        The name of the model that answered, as the service reports it.
    """

    text: str = ""
    finish: str = ""
    refused: bool = False
    tokens: int = 0
    model: str = ""


@dataclass
class Chat:
    """A chat model. Each prompt is answered independently of the others.

    Attributes
    ----------
    temperature
        0 for the most likely answer, more for variety.
    max_tokens
        Maximum number of tokens of an answer.
    """

    service: Service
    model: str
    temperature: float = 0.0
    max_tokens: int = 512
    _limit_name: str = LIMIT

    async def ask(self, prompt: str) -> ChatAnswer:
        """Send a prompt and return the answer. A prompt that the service rejects has an answer without a text.

        Raises
        ------
        EndpointError
            If there is no answer after all attempts, or if it is not an answer of a chat.
        EncoderError
            If the budget would be exceeded.
        """
        limit_name = self._limit_name
        payload = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self.temperature,
            limit_name: self.max_tokens,
        }
        try:
            return await self.service.ask(
                "/chat/completions",
                payload,
                lambda answer: self._read(answer, prompt),
                tokens=guess(prompt) + self.max_tokens,
            )
        except EndpointError as error:
            if limit_name == LIMIT and error.status == 400 and NEW_LIMIT in error.said:
                # Newer models reject the old name, so the new one is used from now on.
                self._limit_name = NEW_LIMIT
                return await self.ask(prompt)
            may_be_the_prompt = error.status in ABOUT_THE_PROMPT
            if error.status == 413 or (may_be_the_prompt and _TOO_LONG.search(error.said)):
                return ChatAnswer(finish=TOO_LONG)
            if may_be_the_prompt and _WITHHELD.search(error.said):
                return ChatAnswer(finish=FILTERED, refused=True)
            raise

    def _read(self, answer: Any, prompt: str) -> ChatAnswer:
        """Return an answer without secrets: it is written to the journal, samples and data cards."""
        try:
            choice = (answer["choices"] or [{}])[0]
            message = choice.get("message") or {}
            text = text_of(message.get("content"))
        except (AttributeError, KeyError, TypeError):
            raise ValueError("the answer is not a chat completion; check the address") from None
        finish = self.service.one_line(text_of(choice.get("finish_reason")))
        return ChatAnswer(
            text=self.service.hide(text),
            finish=finish,
            refused=finish == FILTERED or bool(message.get("refusal")),
            # Some local servers report 0 for everything.
            tokens=used_tokens(answer) or guess(prompt) + guess(text),
            model=self.service.one_line(text_of(answer.get("model"))),
        )


def text_of(content: object) -> str:
    """Return the text of a message's content, with its parts joined; empty if there is none."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    # Lone surrogates are replaced, so that the text can be written to a file.
    text = "".join(text for text in texts if isinstance(text, str))
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
