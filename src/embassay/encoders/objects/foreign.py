"""Objects of other libraries as encoders: told by what they can do; those libraries are never imported.

An object's fingerprint is made of its class, of its settings that are plain values and no secrets, of every tensor and
array that it holds, and of the vectors of seventeen texts in each role, one of them long enough to be cut. These texts
alone would not do: two models may give the same for them and differ elsewhere. So the vectors of an object that holds
more than can be read, such as a service's client, are not kept, unless a ``version`` stands for what it computes with.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import getattr_static
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from embassay.encoders.objects import mteb_model
from embassay.encoders.objects.object_contents import contents, digest
from embassay.encoders.objects.object_forms import FORMS, Form, form_of
from embassay.encoders.objects.object_settings import own_name, settings
from embassay.encoders.probe import PROBES, remembered
from embassay.errors import EncoderError, SpecError
from embassay.samples.base import Role
from embassay.types import Card, Encoder, Runtime, content_hash
from embassay.vectors import Matrix, Similarity, as_array, as_float32, described

OWN = ("name", "fingerprint", "card", "fit", "encode")
"""What an :class:`~embassay.types.Encoder` has."""
LONG = " ".join(PROBES * 12)
"""A text that most models cut, each at its own length."""
WITHIN = 1e-5
"""How far a coordinate of unit vectors may move while the model counts as the same: what devices differ by, no more."""
ROLES: tuple[Role, ...] = ("text", "query", "document")


def is_encoder(thing: object) -> bool:
    """Say whether an object is an encoder, or of another library and taken as one."""
    return _is_own(thing) or form_of(thing) is not None


def _is_own(thing: object) -> bool:
    # A fingerprint takes its time: it is not asked for to find out whether there is one.
    return all(getattr_static(thing, part, None) is not None for part in OWN)


def from_object(thing: Any, runtime: Runtime, name: str = "", version: str = "") -> Encoder:
    """Return an object as an encoder; itself where it is one already.

    Parameters
    ----------
    thing
        LangChain's ``Embeddings``, LlamaIndex's ``BaseEmbedding``, a ``SentenceTransformer``, a model of mteb, or
        anything with ``encode(list of str)`` that returns an (n, d) array.
    name
        What it is to be called; the name of its model by default, else of its class.
    version
        Stands for what it computes with in the fingerprint; it changes with every change of the vectors.

    Raises
    ------
    SpecError
        If it has no such methods, or is a class and no object.
    """
    if isinstance(thing, type):
        raise SpecError(f"{thing.__name__} is a class; make an object of it: {thing.__name__}(…)")
    if _is_own(thing):
        if name or version:
            said, own = ("name", "a name") if name else ("version", "a fingerprint")
            raise SpecError(f"{said}={name or version!r}: {thing.name!r} is an encoder, which has {own} of its own")
        encoder: Encoder = thing
        return encoder
    form = form_of(thing)
    if form is None:
        ways = ", ".join(" with ".join(form.has) for form in FORMS[2:])
        raise SpecError(
            f"{type(thing).__name__} is no encoder; a function goes in as 'python:module:callable', "
            f"an object has one of: {ways}"
        )
    return ObjectEncoder(name or own_name(thing), thing, form, runtime, version)


@dataclass(frozen=True, eq=False)
class ObjectEncoder:
    """Asks an object of another library for vectors; what it is known by is worked out anew each time it is asked for.

    Attributes
    ----------
    version
        Stands for what the object computes with; empty where that is read.
    """

    name: str
    thing: Any = field(repr=False)
    form: Form
    runtime: Runtime = field(repr=False)
    version: str = ""

    @property
    def card(self) -> Card:
        """What the object says of itself."""
        return self._card()

    @property
    def fingerprint(self) -> str:
        """A hash of the object's class, its plain settings, and its version, else its tensors, arrays and vectors.

        Raises
        ------
        EncoderError
            If the object cannot be read, or fails on the seventeen texts.
        """
        return self._fingerprint()

    def of_one_run(self, runtime: Runtime) -> ObjectEncoder:
        """Return it as it is now, for a run: during one an object is taken to stay as it is."""
        return _OfOneRun(self.name, self.thing, self.form, runtime, self.version)

    def fit(self, texts: Sequence[str]) -> ObjectEncoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> Matrix:
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
            return as_float32(csr_array(found), texts)
        if callable(getattr(found, "detach", None)):
            found = found.detach().cpu().float()  # a tensor of torch
        matrix = as_array(found)
        if matrix.dtype.kind not in "fiub" or matrix.ndim != 2:
            raise EncoderError(f"it returned {described(found, matrix)}, not an (n, d) array of real numbers")
        return as_float32(matrix, texts)

    def _card(self) -> Card:
        meta = getattr(self.thing, "mteb_model_meta", None)
        own = str(getattr(self.thing, "similarity_fn_name", None) or mteb_model.similarity_of(meta))
        similarity: Similarity = "dot" if own == "dot" else "cosine"
        kind, model = type(self.thing), own_name(self.thing)
        more = ("" if model == kind.__name__ else f",model={model}") + (f",version={self.version}" * bool(self.version))
        return Card(
            f"object:{kind.__module__}.{kind.__qualname__}{more}",
            cached=bool(self.version) or contents(self.thing) is not None,
            prompts=self._prompts(),
            similarity=similarity,
        )

    def _fingerprint(self) -> str:
        kind = type(self.thing)
        told = [f"{kind.__module__}.{kind.__qualname__}", self.form.name, settings(self.thing)]
        if self.version:
            return content_hash(["object version", *told, self.version])
        told.append(self._read())
        key = content_hash(["object probe", *told, PROBES])
        probe = _settled(self.runtime.remembered, key, self._probe())
        return content_hash(["object", *told, probe.tolist()])

    def _read(self) -> str:
        """Return a hash of all that the object computes with; an empty text where that cannot be read."""
        found = contents(self.thing)
        try:
            return "" if found is None else digest(found)
        except Exception as error:
            raise EncoderError(
                f"its weights cannot be read ({_said(error)}); ea.encoder(object, version=…) says what they are"
            ) from error

    def _prompts(self) -> Mapping[str, str]:
        """Return the prompt of each role, of an object that tells its prompts as one of mteb or a
        ``SentenceTransformer`` does.
        """
        if self.form.name == "mteb":
            return mteb_model.prompts_of(getattr(self.thing, "model_prompts", None) or {})
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
            raise EncoderError(_said(error)) from error
        rows: NDArray[np.float32] = found.toarray() if issparse(found) else found
        if rows.shape[0] != len(PROBES) + 1 or not np.isfinite(rows).all():
            raise EncoderError(f"it returned shape {rows.shape} for {len(PROBES) + 1} texts, or a vector with NaN")
        return rows


class _OfOneRun(ObjectEncoder):
    """An object during a run: what it is known by is worked out once."""

    @cached_property
    def card(self) -> Card:
        return self._card()

    @cached_property
    def fingerprint(self) -> str:
        return self._fingerprint()


def _said(error: Exception) -> str:
    message = re.sub(r"\s+", " ", str(error))
    return f"{type(error).__name__}: {message}"


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
