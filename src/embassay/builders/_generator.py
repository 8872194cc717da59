"""Sentences that a model writes: prompts go to a chat endpoint, answers come back, are judged, and are kept.

``MODEL[,option=value…]`` names a model of any service that answers as OpenAI's ``/chat/completions`` does.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from embassay.builders._chat_generator import ChatGenerator
from embassay.builders._journal import Journal
from embassay.builders._requests import Generator, Reply, Request
from embassay.endpoint import Retries
from embassay.endpoint.access import OPENAI_KEY, check_amounts, check_whole, open_endpoint
from embassay.endpoint.chat import Chat
from embassay.errors import MissingExtraError, SpecError
from embassay.run.specs import bind, parse

__all__ = ["ChatGenerator", "Generator", "Reply", "Request", "create", "generator"]
EXTRA, REQUIRES = "api", "httpx2"
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
    if importlib.util.find_spec(REQUIRES) is None:
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
    how: dict[str, Any] = {
        "timeout": timeout,
        "concurrency": concurrency,
        "retries": RETRIES,
        "price": price,
        "budget": budget,
    }
    kept = f"answers are kept in {journal}" if journal else ""
    endpoint = open_endpoint(place, base_url, key_env, kept=kept, **how)
    return ChatGenerator(Chat(endpoint, model, temperature, max_tokens, seed), Journal(journal))
