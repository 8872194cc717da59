"""Objects of other libraries as encoders: recognised by their methods; those libraries are never imported.

The content of an object is not known in general, so its fingerprint is made from the argument ``version`` of
``ea.encoder``. Without a version, its vectors are not cached.
"""

from __future__ import annotations

import re
import secrets
from inspect import getattr_static
from typing import Any

from embassay.core.errors import SpecError
from embassay.core.samples.base import ROLES, Role
from embassay.core.types import Card, Encoder
from embassay.models.base import spec_of, supported_similarity
from embassay.models.objects.calls import CallEncoder

ENCODER_PARTS = ("name", "fingerprint", "card", "fit", "encode")
"""What an :class:`~embassay.core.types.Encoder` has."""
INTERFACES = (
    ("encode", "encode_query", "encode_document"),
    ("embed_documents", "embed_query", "embed_documents"),
    ("get_text_embedding_batch", "get_query_embedding", "get_text_embedding_batch"),
    ("encode", "encode", "encode"),
)
"""The methods for texts, queries and documents of sentence-transformers, LangChain, LlamaIndex, and other objects.

The first of which an object has all methods is used. LangChain and LlamaIndex distinguish only queries and documents,
so plain texts are encoded as documents."""
FUNCTION = ("__call__", "__call__", "__call__")
SINGLE = ("embed_query", "get_query_embedding")
"""Methods that take one text at a time."""
NAMED_BY = ("model_name", "model", "model_id", "deployment", "__name__")
"""Attributes that may contain the name of an object's model, or of a function."""
SAFE_NAME = re.compile(r"(?!unknown$)[\w.@+-]+(/[\w.@+-]+){0,3}")
"""Names that are safe to show. An address is not, because it may contain a password; LlamaIndex has ``unknown``."""
NOT_KEPT = (
    "the object's content cannot be fingerprinted, so its vectors are not cached and its scores are not reused; "
    'give it a version that changes whenever its vectors change: ea.encoder(object, version="1")'
)


def is_encoder(thing: object) -> bool:
    """Return whether an object is an encoder, or an object of another library that can be used as one."""
    return _is_encoder_already(thing) or bool(_interface_of(thing))


def from_object(thing: Any, name: str = "", version: str = "") -> Encoder:
    """Return an encoder for an object of another library; an encoder is returned as it is.

    Parameters
    ----------
    thing
        LangChain's ``Embeddings``, LlamaIndex's ``BaseEmbedding``, a ``SentenceTransformer``, or anything with
        ``encode(list of str)`` that returns an (n, d) array; or such a function.
    name
        The name of the encoder. Default: the name of the object's model, or of the function, otherwise of its class.
    version
        A version that must change whenever the object's vectors change.

    Raises
    ------
    SpecError
        If it has none of the known interfaces, or is a class instead of an object.
    """
    if isinstance(thing, type):
        raise SpecError(f"{thing.__name__} is a class; pass an instance: {thing.__name__}(…)")
    if _is_encoder_already(thing):
        if name or version:
            raise SpecError(
                f"{thing.name!r} is an encoder with its own name and fingerprint; leave name and version out"
            )
        encoder: Encoder = thing
        return encoder
    interface = _interface_of(thing) or (FUNCTION if callable(thing) else ())
    if not interface:
        raise SpecError(
            f"{type(thing).__name__} is not an encoder; pass a function of a list of texts, or an object with one of: "
            "embed_documents with embed_query, get_text_embedding_batch with get_query_embedding, encode"
        )

    kind = type(thing)
    model = own_name(thing)
    # The class is already in the head of the spec.
    options = {"model": "" if model == kind.__name__ else model, "version": version}
    card = Card(
        spec_of(f"object:{kind.__module__}.{kind.__qualname__}", options),
        cached=bool(version),
        known=bool(version),
        similarity=supported_similarity(getattr(thing, "similarity_fn_name", None)),
        warnings=() if version else (NOT_KEPT,),
    )
    content = [model, f"version {version}" if version else secrets.token_hex(16)]

    def call(texts: list[str], role: Role) -> object:
        method_name = interface[ROLES.index(role)]
        method = getattr(thing, method_name)
        return [method(text) for text in texts] if method_name in SINGLE else method(texts)

    return CallEncoder(name or model, card, lambda: content, lambda: call)


def own_name(thing: object) -> str:
    """Return the name of an object's model if it has one that is safe to show, otherwise of its class."""
    names = [getattr(thing, attribute, None) for attribute in NAMED_BY]
    names.append(getattr(getattr(thing, "model_card_data", None), "base_model", None))
    return next((name for name in names if isinstance(name, str) and SAFE_NAME.fullmatch(name)), type(thing).__name__)


def _is_encoder_already(thing: object) -> bool:
    # Properties are looked up without being computed, because computing a fingerprint may take long.
    return all(getattr_static(thing, part, None) is not None for part in ENCODER_PARTS)


def _interface_of(thing: object) -> tuple[str, ...]:
    """Return the methods of an object for each role; empty for an object without a known interface."""
    return next((methods for methods in INTERFACES if all(hasattr(thing, method) for method in methods)), ())
