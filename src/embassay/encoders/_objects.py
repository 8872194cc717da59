"""Objects of other libraries as encoders: told by what they can do; those libraries are never imported.

What such an object computes with cannot be read, so its fingerprint is made of its class, of its settings that are
plain values and no secrets, and of the vectors of seventeen texts in each role, one of them long enough to be cut.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from embassay.encoders._object_settings import own_name, settings
from embassay.encoders._probe import PROBES, remembered
from embassay.errors import EncoderError, SpecError
from embassay.samples import Role
from embassay.types import Card, Encoder, Runtime, content_hash
from embassay.vectors import Similarity

OWN = ("name", "fingerprint", "card", "fit", "encode")
"""What an :class:`~embassay.types.Encoder` has."""
LONG = " ".join(PROBES * 12)
"""A text that most models cut, each at its own length."""
WITHIN = 1e-5
"""How far a coordinate of unit vectors may move while the model counts as the same: what devices differ by, no more."""
ROLES: tuple[Role, ...] = ("text", "query", "document")


@dataclass(frozen=True)
class Form:
    """A way in which libraries turn texts into vectors.

    Attributes
    ----------
    has
        The methods that it is told by, all of them.
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


def _plain(thing: Any, texts: list[str], role: Role) -> Any:
    return thing.encode(texts)


FORMS = (
    Form("sentence-transformers", ("encode", "encode_query", "encode_document"), _sentence_transformer),
    Form("LangChain", ("embed_documents", "embed_query"), _langchain),
    Form("LlamaIndex", ("get_text_embedding_batch", "get_query_embedding"), _llama_index),
    Form("encode", ("encode",), _plain),
)
"""The first whose methods an object has is taken. LangChain and LlamaIndex know queries and documents only: plain texts
go in as documents."""


def from_object(thing: Any, runtime: Runtime, name: str = "") -> Encoder:
    """Return an object as an encoder; itself where it is one already.

    Parameters
    ----------
    thing
        LangChain's ``Embeddings``, LlamaIndex's ``BaseEmbedding``, a ``SentenceTransformer``, or anything with
        ``encode(list of str)`` that returns an (n, d) array.
    name
        What it is to be called; the name of its model by default, else of its class.

    Raises
    ------
    SpecError
        If it has no such methods, or is a class and no object.
    """
    if isinstance(thing, type):
        raise SpecError(f"{thing.__name__} is a class; make an object of it: {thing.__name__}(…)")
    if all(hasattr(thing, part) for part in OWN):
        if name:
            raise SpecError(f"name={name!r}: {thing.name!r} is an encoder, which has a name of its own")
        own: Encoder = thing
        return own
    form = next((form for form in FORMS if all(callable(getattr(thing, has, None)) for has in form.has)), None)
    if form is None:
        ways = ", ".join(" with ".join(form.has) for form in FORMS[1:])
        raise SpecError(
            f"{type(thing).__name__} is no encoder; a function goes in as 'python:module:callable', "
            f"an object has one of: {ways}"
        )
    return ObjectEncoder(name or own_name(thing), thing, form, runtime)


@dataclass(frozen=True, eq=False)
class ObjectEncoder:
    """Asks an object of another library for vectors."""

    name: str
    thing: Any = field(repr=False)
    form: Form
    runtime: Runtime = field(repr=False)

    @property
    def card(self) -> Card:
        """What the object says of itself."""
        own = str(getattr(self.thing, "similarity_fn_name", None) or "cosine")
        similarity: Similarity = "dot" if own == "dot" else "cosine"
        kind = type(self.thing)
        model = own_name(self.thing)
        more = "" if model == kind.__name__ else f",model={model}"
        return Card(
            f"object:{kind.__module__}.{kind.__qualname__}{more}", prompts=self._prompts(), similarity=similarity
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the object's class, its plain settings, and of how seventeen texts are encoded in each role.

        Raises
        ------
        EncoderError
            If the object fails on them.
        """
        key = content_hash(["object probe", *self._told, PROBES])
        probe = _settled(self.runtime.remembered, key, self._probe())
        return content_hash(["object", *self._told, probe.tolist()])

    def fit(self, texts: Sequence[str]) -> ObjectEncoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> Any:
        """Return (n, d) float32, dense or CSR, each text in its role as far as the object knows roles.

        Raises
        ------
        EncoderError
            If it returns something that is no array of numbers.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        found = self.form.encode(self.thing, list(texts), role)
        if issparse(found):
            return csr_array(found).astype(np.float32)
        if callable(getattr(found, "detach", None)):
            found = found.detach().cpu().float()  # a tensor of torch
        matrix = np.asarray(found)
        if matrix.dtype.kind not in "fiub" or matrix.ndim != 2:
            raise EncoderError(f"it returned {type(found).__name__}, not an (n, d) array of real numbers")
        with np.errstate(over="ignore"):
            return matrix.astype(np.float32)

    @property
    def _told(self) -> tuple[object, ...]:
        kind = type(self.thing)
        return f"{kind.__module__}.{kind.__qualname__}", self.form.name, settings(self.thing)

    def _prompts(self) -> Mapping[str, str]:
        """Return the prompt of each role, of an object that tells its prompts as sentence-transformers' do."""
        prompts = getattr(self.thing, "prompts", None)
        if not isinstance(prompts, Mapping):
            return {}
        names = {"text": getattr(self.thing, "default_prompt_name", None), "query": "query", "document": "document"}
        found = {role: prompts.get(name) for role, name in names.items()}
        return {role: prompt for role, prompt in found.items() if isinstance(prompt, str) and prompt}

    def _probe(self) -> NDArray[np.float32]:
        """Return one row for each short probe: in each role its unit vector, that of the long one, and their norms."""
        parts = []
        for role in ROLES:
            rows = _unit(self._probed(role))
            parts += [rows[:-1], np.repeat(rows[-1:], len(PROBES), axis=0)]
        return np.hstack(parts)

    def _probed(self, role: Role) -> NDArray[np.float32]:
        try:
            found = self.encode([*PROBES, LONG], role)
        except EncoderError:
            raise
        except Exception as error:
            said = re.sub(r"\s+", " ", str(error))
            raise EncoderError(f"{type(error).__name__}: {said}") from error
        rows: NDArray[np.float32] = found.toarray() if issparse(found) else found
        if rows.shape[0] != len(PROBES) + 1 or not np.isfinite(rows).all():
            raise EncoderError(f"it returned shape {rows.shape} for {len(PROBES) + 1} texts, or a vector with NaN")
        return rows


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows at unit length, and a tenth of the logarithm of 1 + their norm in a last column."""
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return np.hstack([rows / np.where(norms > 0, norms, 1), np.log1p(norms) / 10]).astype(np.float32)


def _settled(memory: MutableMapping[str, str], key: str, probe: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probe of the last time where this one is the same within rounding; else this one, remembered."""
    known = remembered(memory, key)
    if known is not None and known.shape == probe.shape and np.abs(known - probe).max() <= WITHIN:
        return known
    memory[key] = base64.b64encode(probe.astype("<f4").tobytes()).decode()
    return probe
