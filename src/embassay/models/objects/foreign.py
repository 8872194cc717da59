"""Objects of other libraries as encoders: recognised by their methods; those libraries are never imported.

The content of an object is not known in general, so its fingerprint is made from a version: the argument ``version``
of ``ea.encoder``, or the object's own attribute ``version`` or ``fingerprint``. Without a version, its vectors are not
cached.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import getattr_static
from typing import Any

import numpy as np

from embassay.core.errors import SpecError
from embassay.core.samples.base import ROLES, Role
from embassay.core.types import Card, Encoder, content_hash
from embassay.core.vectors import VectorMatrix
from embassay.models.base import BaseEncoder, spec_of, supported_similarity
from embassay.models.objects.matrices import real_matrix

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
        A version that must change whenever the object's vectors change. Default: the object's own attribute ``version``
        or ``fingerprint``.

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
        # The first interface contains the method of the last one.
        ways = ", ".join(" with ".join(dict.fromkeys(methods)) for methods in INTERFACES[1:])
        raise SpecError(
            f"{type(thing).__name__} is not an encoder; pass a function of a list of texts, or an object with one of: "
            f"{ways}"
        )
    return ObjectEncoder(name or own_name(thing), thing, interface, version or _own_version(thing))


def own_name(thing: object) -> str:
    """Return the name of an object's model if it has one that is safe to show, otherwise of its class."""
    names = [getattr(thing, attribute, None) for attribute in NAMED_BY]
    names.append(getattr(getattr(thing, "model_card_data", None), "base_model", None))
    return next((name for name in names if isinstance(name, str) and SAFE_NAME.fullmatch(name)), type(thing).__name__)


@dataclass(frozen=True, eq=False)
class ObjectEncoder(BaseEncoder):
    """An encoder that calls an object of another library.

    Attributes
    ----------
    interface
        The names of its methods for texts, queries and documents.
    version
        The version of the object's content; empty if it is unknown.
    """

    name: str
    thing: Any = field(repr=False)
    interface: tuple[str, ...]
    version: str = ""

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        model = own_name(self.thing)
        # The class is already in the head of the spec.
        options = {"model": "" if model == type(self.thing).__name__ else model, "version": self.version}
        is_known = bool(self.version)
        return Card(
            spec_of(f"object:{self._class_name}", options),
            cached=is_known,
            known=is_known,
            similarity=supported_similarity(getattr(self.thing, "similarity_fn_name", None)),
            warnings=() if is_known else (NOT_KEPT,),
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the object's class, name and version; without a version, of a random number instead."""
        content = f"version {self.version}" if self.version else secrets.token_hex(16)
        return content_hash(["object", self._class_name, own_name(self.thing), content])

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return (n, d) float32, dense or CSR. The role is passed on if the object's interface has roles.

        Raises
        ------
        EncoderError
            If the object does not return an array of numbers.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        name = self.interface[ROLES.index(role)]
        method = getattr(self.thing, name)
        rows = [method(text) for text in texts] if name in SINGLE else method(list(texts))
        return real_matrix(rows)

    @property
    def _class_name(self) -> str:
        kind = type(self.thing)
        return f"{kind.__module__}.{kind.__qualname__}"


def _is_encoder_already(thing: object) -> bool:
    # Properties are looked up without being computed, because computing a fingerprint may take long.
    return all(getattr_static(thing, part, None) is not None for part in ENCODER_PARTS)


def _interface_of(thing: object) -> tuple[str, ...]:
    """Return the methods of an object for each role; empty for an object without a known interface, and for a class."""
    if isinstance(thing, type):
        return ()
    return next((methods for methods in INTERFACES if all(hasattr(thing, method) for method in methods)), ())


def _own_version(thing: object) -> str:
    """Return an object's own version or fingerprint, a text or a whole number; empty if it has none."""
    versions = [getattr(thing, attribute, None) for attribute in ("version", "fingerprint")]
    return next((str(version) for version in versions if type(version) in (int, str) and version != ""), "")
