"""The ways in which objects of other libraries turn texts into vectors, each told by its methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from embassay.encoders.objects import mteb_model
from embassay.samples.base import Role

BATCH = 32
"""Texts that go through a model of mteb together."""


@dataclass(frozen=True)
class Form:
    """A way in which libraries turn texts into vectors.

    Attributes
    ----------
    has
        The methods that it is told by, all of them; an attribute ``mteb_model_meta`` is one as well.
    encode
        Called with (object, texts, role).
    """

    name: str
    has: tuple[str, ...]
    encode: Callable[[Any, list[str], Role], Any]


def _sentence_transformer(thing: Any, texts: list[str], role: Role) -> Any:
    return {"query": thing.encode_query, "document": thing.encode_document, "text": thing.encode}[role](texts)


def _langchain(thing: Any, texts: list[str], role: Role) -> Any:
    return [thing.embed_query(text) for text in texts] if role == "query" else thing.embed_documents(texts)


def _llama_index(thing: Any, texts: list[str], role: Role) -> Any:
    if role == "query":
        return [thing.get_query_embedding(text) for text in texts]
    return thing.get_text_embedding_batch(texts)


def _mteb(thing: Any, texts: list[str], role: Role) -> Any:
    return mteb_model.encode(thing, texts, role, BATCH)


def _plain(thing: Any, texts: list[str], role: Role) -> Any:
    return thing.encode(texts)


FORMS = (
    Form("mteb", ("mteb_model_meta", "encode"), _mteb),
    Form("sentence-transformers", ("encode", "encode_query", "encode_document"), _sentence_transformer),
    Form("LangChain", ("embed_documents", "embed_query"), _langchain),
    Form("LlamaIndex", ("get_text_embedding_batch", "get_query_embedding"), _llama_index),
    Form("encode", ("encode",), _plain),
)
"""The first whose methods an object has is taken. LangChain and LlamaIndex know queries and documents only: plain texts
go in as documents."""


def form_of(thing: object) -> Form | None:
    """Return the form of an object by its methods; None where it has none of them, or is a class."""
    return next((f for f in FORMS if all(_has(thing, name) for name in f.has) and not isinstance(thing, type)), None)


def _has(thing: object, name: str) -> bool:
    found = getattr(thing, name, None)
    return callable(found) or (name == "mteb_model_meta" and found is not None)
