"""Objects of other libraries as encoders: recognised by their methods; those libraries are never imported.

What an object computes with cannot be known in general. So its fingerprint is a version: the argument of
``ea.encoder``, or the object's own attribute ``version`` or ``fingerprint``. A ``SentenceTransformer`` needs none,
because its weights, tokenizer and settings can be read. The vectors of any other object are not kept, and each run
takes it for another model.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import getattr_static
from typing import Any

import numpy as np

from embassay.encoders.base import spec_of
from embassay.encoders.neural.st import has_known_content, hash_content
from embassay.encoders.objects import mteb_model
from embassay.encoders.objects.matrices import real_matrix
from embassay.errors import SpecError
from embassay.samples.base import Role
from embassay.types import Card, Encoder, content_hash
from embassay.vectors import VectorMatrix

ENCODER_PARTS = ("name", "fingerprint", "card", "fit", "encode")
"""What an :class:`~embassay.types.Encoder` has."""
VERSIONED_BY = ("version", "fingerprint")
"""Attributes in which an object may say which version of its content it is."""
NAMED_BY = ("model_name", "model", "model_id", "deployment")
"""Where objects keep the name of their model."""
NAMELESS = ("unknown", "no_model_name/available")
"""What LlamaIndex and mteb call a model whose name they do not know."""
SAFE_NAME = re.compile(r"[\w.@+-]+(/[\w.@+-]+){0,3}")
"""Names that can be shown: an address may hold a password."""
MTEB_BATCH = 32
"""Texts that go through a model of mteb together."""
NOT_KEPT = (
    "the object's content cannot be fingerprinted, so its vectors are not cached and its scores are not reused; "
    'give it a version that changes whenever its vectors change: ea.encoder(object, version="1")'
)


@dataclass(frozen=True)
class Form:
    """A way in which libraries turn texts into vectors.

    Attributes
    ----------
    methods
        An object that has all of them has this form; an attribute ``mteb_model_meta`` counts as one.
    encode
        Called with (object, texts, role).
    """

    name: str
    methods: tuple[str, ...]
    encode: Callable[[Any, list[str], Role], Any]


def _encode_by_role(thing: Any, texts: list[str], role: Role) -> Any:
    if role == "query":
        return thing.encode_query(texts)
    if role == "document":
        return thing.encode_document(texts)
    return thing.encode(texts)


def _encode_langchain(thing: Any, texts: list[str], role: Role) -> Any:
    if role == "query":
        return [thing.embed_query(text) for text in texts]
    return thing.embed_documents(texts)


def _encode_llama_index(thing: Any, texts: list[str], role: Role) -> Any:
    if role == "query":
        return [thing.get_query_embedding(text) for text in texts]
    return thing.get_text_embedding_batch(texts)


def _encode_mteb(thing: Any, texts: list[str], role: Role) -> Any:
    return mteb_model.encode(thing, texts, role, MTEB_BATCH)


def _encode_plain(thing: Any, texts: list[str], role: Role) -> Any:
    return thing.encode(texts)


FORMS = (
    Form("mteb", ("mteb_model_meta", "encode"), _encode_mteb),
    Form("sentence-transformers", ("encode", "encode_query", "encode_document"), _encode_by_role),
    Form("LangChain", ("embed_documents", "embed_query"), _encode_langchain),
    Form("LlamaIndex", ("get_text_embedding_batch", "get_query_embedding"), _encode_llama_index),
    Form("encode", ("encode",), _encode_plain),
)
"""The first whose methods an object has is taken. LangChain and LlamaIndex know queries and documents only: plain texts
go in as documents."""


def is_encoder(thing: object) -> bool:
    """Say whether an object is an encoder, or of another library and taken as one."""
    return _is_encoder_already(thing) or _form_of(thing) is not None


def from_object(thing: Any, name: str = "", version: str = "") -> Encoder:
    """Return an object as an encoder; itself where it is one already.

    Parameters
    ----------
    thing
        LangChain's ``Embeddings``, LlamaIndex's ``BaseEmbedding``, a ``SentenceTransformer``, a model of mteb, or
        anything with ``encode(list of str)`` that returns an (n, d) array.
    name
        Its name; the name of its model by default, else of its class.
    version
        Stands for what it computes with; it has to change with every change of the vectors. The object's own attribute
        ``version`` or ``fingerprint`` by default.

    Raises
    ------
    SpecError
        If it has no such methods, or is a class and no object.
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
    form = _form_of(thing)
    if form is None:
        # The first two forms have the same method as the last.
        ways = ", ".join(" with ".join(form.methods) for form in FORMS[2:])
        raise SpecError(
            f"{type(thing).__name__} is not an encoder; pass a function as 'python:module:callable'; "
            f"an object needs one of: {ways}"
        )
    return ObjectEncoder(name or own_name(thing), thing, form, version or _own_version(thing))


def own_name(thing: object) -> str:
    """Return the name of an object's model where it has one that can be shown, else of its class."""
    meta = getattr(thing, "mteb_model_meta", None)
    model_card = getattr(thing, "model_card_data", None)
    names = [getattr(meta, "name", None)]
    names += [getattr(thing, attribute, None) for attribute in NAMED_BY]
    names += [getattr(model_card, "base_model", None)]
    for name in names:
        if isinstance(name, str) and SAFE_NAME.fullmatch(name) and name not in NAMELESS:
            return name
    return type(thing).__name__


@dataclass(frozen=True, eq=False)
class ObjectEncoder:
    """Asks an object of another library for vectors; its fingerprint is computed anew each time.

    Attributes
    ----------
    version
        Stands for what the object computes with; empty where nobody says.
    """

    name: str
    thing: Any = field(repr=False)
    form: Form
    version: str = ""

    @property
    def card(self) -> Card:
        """What the object says of itself."""
        model = own_name(self.thing)
        if model == type(self.thing).__name__:
            model = ""
        spec = spec_of(f"object:{self._class_name}", {"model": model, "version": self.version})
        meta = getattr(self.thing, "mteb_model_meta", None)
        own_similarity = getattr(self.thing, "similarity_fn_name", None) or mteb_model.similarity_of(meta)
        is_known = bool(self.version) or has_known_content(self.thing)
        return Card(
            spec,
            cached=is_known,
            prompts=self._prompts(),
            similarity="dot" if str(own_similarity) == "dot" else "cosine",
            warnings=() if is_known else (NOT_KEPT,),
        )

    @property
    def fingerprint(self) -> str:
        """A hash of the object's class and name, and of its version, else its content.

        Where neither is known it is another one each time: nobody can say that the object is still the same model.
        """
        parts = [self._class_name, self.form.name, own_name(self.thing), self._prompts()]
        if self.version:
            return content_hash(["object version", *parts, self.version])
        if has_known_content(self.thing):
            return content_hash(["object content", *parts, hash_content(self.thing)])
        return content_hash(["object of unknown content", secrets.token_hex(16)])

    def of_one_run(self) -> ObjectEncoder:
        """Return it as it is now, for a run: during a run an object is assumed not to change."""
        return _OfOneRun(self.name, self.thing, self.form, self.version)

    def fit(self, texts: Sequence[str]) -> ObjectEncoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return (n, d) float32, dense or CSR, each text in its role as far as the object knows roles.

        Raises
        ------
        EncoderError
            If it returns something that is no array of numbers.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        rows = self.form.encode(self.thing, list(texts), role)
        if callable(getattr(rows, "detach", None)):
            rows = rows.detach().cpu().float()  # a tensor of torch
        return real_matrix(rows, texts)

    @property
    def _class_name(self) -> str:
        kind = type(self.thing)
        return f"{kind.__module__}.{kind.__qualname__}"

    def _prompts(self) -> dict[str, str]:
        """Return the prompt of each role, of an object that has prompts as mteb or sentence-transformers keep them."""
        if self.form.name == "mteb":
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
    """An object during a run: card and fingerprint are computed once."""

    @cached_property
    def card(self) -> Card:
        return super().card

    @cached_property
    def fingerprint(self) -> str:
        return super().fingerprint


def _is_encoder_already(thing: object) -> bool:
    # Looked up without calling: to compute a fingerprint may take its time.
    return all(getattr_static(thing, part, None) is not None for part in ENCODER_PARTS)


def _form_of(thing: object) -> Form | None:
    """Return the form of an object by its methods; None where it has none of them, or is a class."""
    if isinstance(thing, type):
        return None
    for form in FORMS:
        if all(_has(thing, method) for method in form.methods):
            return form
    return None


def _has(thing: object, name: str) -> bool:
    attribute = getattr(thing, name, None)
    return callable(attribute) or (name == "mteb_model_meta" and attribute is not None)


def _own_version(thing: object) -> str:
    """Return what an object calls its version or fingerprint; an empty text where it has none."""
    for attribute in VERSIONED_BY:
        value = getattr(thing, attribute, None)
        is_whole_number = isinstance(value, int) and not isinstance(value, bool)
        if is_whole_number or (isinstance(value, str) and value):
            return str(value)
    return ""
