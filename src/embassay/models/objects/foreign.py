"""Objects of other libraries as encoders: recognised by their methods; those libraries are never imported.

The content of an object is not known in general, so its fingerprint is made from a version: the argument ``version``
of ``ea.encoder``, or the object's own attribute ``version`` or ``fingerprint``. A ``SentenceTransformer`` needs no
version, because its weights, tokenizer and settings can be read. The vectors of any other object are not cached, and
each run treats it as a new model.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import getattr_static
from typing import Any

import numpy as np

from embassay.core.errors import SpecError
from embassay.core.samples.base import Role
from embassay.core.types import Card, Encoder, content_hash
from embassay.core.vectors import VectorMatrix
from embassay.models.base import BaseEncoder, spec_of, supported_similarity
from embassay.models.objects import mteb_model
from embassay.models.objects.matrices import off_device, real_matrix
from embassay.models.objects.sentence_transformer import has_known_content, hash_content

ENCODER_PARTS = ("name", "fingerprint", "card", "fit", "encode")
"""What an :class:`~embassay.core.types.Encoder` has."""
VERSIONED_BY = ("version", "fingerprint")
"""Attributes that may contain an object's version."""
NAMED_BY = ("model_name", "model", "model_id", "deployment")
"""Attributes that may contain the name of an object's model."""
NAMELESS = ("unknown", "no_model_name/available")
"""Placeholders of LlamaIndex and mteb for an unknown model name."""
SAFE_NAME = re.compile(r"[\w.@+-]+(/[\w.@+-]+){0,3}")
"""Names that are safe to show. An address is not, because it may contain a password."""
MTEB_BATCH = 32
"""Number of texts in a batch of a model of mteb."""
NOT_KEPT = (
    "the object's content cannot be fingerprinted, so its vectors are not cached and its scores are not reused; "
    'give it a version that changes whenever its vectors change: ea.encoder(object, version="1")'
)


@dataclass(frozen=True)
class Interface:
    """The methods with which a library turns texts into vectors. An object with all of them has this interface.

    Attributes
    ----------
    text, query, document
        The names of the methods that encode texts in these roles.
    single_queries
        Whether the method for queries takes one text at a time.
    """

    name: str
    text: str
    query: str
    document: str
    single_queries: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, each once."""
        return tuple(dict.fromkeys((self.text, self.query, self.document)))

    def encode(self, thing: Any, texts: list[str], role: Role) -> Any:
        """Return the vectors of texts as the library gives them."""
        method = getattr(thing, getattr(self, role))
        if role == "query" and self.single_queries:
            return [method(text) for text in texts]
        return method(texts)


class MtebInterface(Interface):
    """The interface of mteb's models, which have the attribute ``mteb_model_meta`` too."""

    def encode(self, thing: Any, texts: list[str], role: Role) -> Any:
        """Return the vectors of texts as the library gives them."""
        return mteb_model.encode(thing, texts, role, MTEB_BATCH)


INTERFACES = (
    MtebInterface("mteb", "encode", "encode", "mteb_model_meta"),
    Interface("sentence-transformers", "encode", "encode_query", "encode_document"),
    Interface("LangChain", "embed_documents", "embed_query", "embed_documents", single_queries=True),
    Interface(
        "LlamaIndex",
        "get_text_embedding_batch",
        "get_query_embedding",
        "get_text_embedding_batch",
        single_queries=True,
    ),
    Interface("encode", "encode", "encode", "encode"),
)
"""Known interfaces; the first that an object has is used. LangChain and LlamaIndex distinguish only queries and
documents, so plain texts are encoded as documents."""
FUNCTION = Interface("function", "__call__", "__call__", "__call__")
"""What can be called with a list of texts, and has no known interface."""


def is_encoder(thing: object) -> bool:
    """Return whether an object is an encoder, or an object of another library that can be used as one."""
    return _is_encoder_already(thing) or _interface_of(thing) is not None


def from_object(thing: Any, name: str = "", version: str = "") -> Encoder:
    """Return an encoder for an object of another library; an encoder is returned as it is.

    Parameters
    ----------
    thing
        LangChain's ``Embeddings``, LlamaIndex's ``BaseEmbedding``, a ``SentenceTransformer``, a model of mteb, or
        anything with ``encode(list of str)`` that returns an (n, d) array; or such a function.
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
        if name:
            raise SpecError(
                f"name={name!r}: cannot be used, because {thing.name!r} is already an encoder with its own name"
            )
        if version:
            raise SpecError(
                f"version={version!r}: cannot be used, because {thing.name!r} is already an encoder with its "
                "own fingerprint"
            )
        encoder: Encoder = thing
        return encoder
    interface = _interface_of(thing) or (FUNCTION if callable(thing) else None)
    if interface is None:
        # The first two interfaces contain the method of the last one, so the message does not list them.
        ways = ", ".join(" with ".join(interface.methods) for interface in INTERFACES[2:])
        raise SpecError(
            f"{type(thing).__name__} is not an encoder; pass a function of a list of texts, or an object with one of: "
            f"{ways}"
        )
    return ObjectEncoder(name or own_name(thing), thing, interface, version or _own_version(thing))


def own_name(thing: object) -> str:
    """Return the name of an object's model if it has one that is safe to show, otherwise of its class."""
    meta = getattr(thing, "mteb_model_meta", None)
    model_card = getattr(thing, "model_card_data", None)
    names = [getattr(meta, "name", None)]
    names += [getattr(thing, attribute, None) for attribute in NAMED_BY]
    names += [getattr(model_card, "base_model", None), getattr(thing, "__name__", None)]
    for name in names:
        if isinstance(name, str) and SAFE_NAME.fullmatch(name) and name not in NAMELESS:
            return name
    return type(thing).__name__


@dataclass(frozen=True, eq=False)
class ObjectEncoder(BaseEncoder):
    """An encoder that calls an object of another library. Its fingerprint is computed again at each access.

    Attributes
    ----------
    version
        The version of the object's content; empty if it is unknown.
    """

    name: str
    thing: Any = field(repr=False)
    interface: Interface
    version: str = ""

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        model = own_name(self.thing)
        # The class is already in the head of the spec.
        if model == type(self.thing).__name__:
            model = ""
        spec = spec_of(f"object:{self._class_name}", {"model": model, "version": self.version})
        meta = getattr(self.thing, "mteb_model_meta", None)
        # Objects of sentence-transformers have an attribute, models of mteb have metadata.
        own_similarity = getattr(self.thing, "similarity_fn_name", None) or mteb_model.similarity_of(meta)
        is_known = bool(self.version) or has_known_content(self.thing)
        return Card(
            spec,
            cached=is_known,
            known=is_known,
            prompts=self._prompts(),
            similarity=supported_similarity(own_similarity),
            warnings=() if is_known else (NOT_KEPT,),
        )

    @property
    def fingerprint(self) -> str:
        """A hash of the object's class and name, and of its version or otherwise its content.

        If neither is known, it is different each time, because the object may have changed since.
        """
        parts = [self._class_name, self.interface.name, own_name(self.thing), self._prompts()]
        if self.version:
            return content_hash(["object version", *parts, self.version])
        if has_known_content(self.thing):
            return content_hash(["object content", *parts, hash_content(self.thing)])
        return content_hash(["object of unknown content", secrets.token_hex(16)])

    def of_one_run(self) -> ObjectEncoder:
        """Return an encoder with a fixed fingerprint; during one run the object is assumed not to change."""
        return _OfOneRun(self.name, self.thing, self.interface, self.version)

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return (n, d) float32, dense or CSR. The role is passed on if the object's interface has roles.

        Raises
        ------
        EncoderError
            If the object does not return an array of numbers.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        rows = self.interface.encode(self.thing, list(texts), role)
        return real_matrix(off_device(rows), texts)

    @property
    def _class_name(self) -> str:
        kind = type(self.thing)
        return f"{kind.__module__}.{kind.__qualname__}"

    def _prompts(self) -> dict[str, str]:
        """Return the prompts by role, if the object stores them like mteb or sentence-transformers."""
        if self.interface.name == "mteb":
            return mteb_model.prompts_of(getattr(self.thing, "model_prompts", None) or {})
        prompts = getattr(self.thing, "prompts", None)
        if not isinstance(prompts, Mapping):
            return {}
        names = {"text": getattr(self.thing, "default_prompt_name", None), "query": "query", "document": "document"}
        by_role = {}
        for role, name in names.items():
            prompt = prompts.get(name)
            if isinstance(prompt, str) and prompt:
                by_role[role] = prompt
        return by_role


class _OfOneRun(ObjectEncoder):
    """An object during one run: card and fingerprint are computed only once."""

    @cached_property
    def card(self) -> Card:
        return super().card

    @cached_property
    def fingerprint(self) -> str:
        return super().fingerprint


def _is_encoder_already(thing: object) -> bool:
    # Properties are looked up without being computed, because computing a fingerprint may take long.
    return all(getattr_static(thing, part, None) is not None for part in ENCODER_PARTS)


def _interface_of(thing: object) -> Interface | None:
    """Return the interface of an object; None for an object without a known one, and for a class."""
    if isinstance(thing, type):
        return None
    for interface in INTERFACES:
        if all(getattr(thing, method, None) is not None for method in interface.methods):
            return interface
    return None


def _own_version(thing: object) -> str:
    """Return an object's own version or fingerprint; empty if it has none."""
    for attribute in VERSIONED_BY:
        value = getattr(thing, attribute, None)
        is_whole_number = isinstance(value, int) and not isinstance(value, bool)
        if is_whole_number or (isinstance(value, str) and value):
            return str(value)
    return ""
