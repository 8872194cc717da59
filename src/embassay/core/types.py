"""The few types that the work is done with: corpus, encoder, vectors, item scores; what comes out is in ``result``.

All are frozen dataclasses. NaN lives only inside the arrays of :class:`ItemScores`, where it means "undefined".
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from embassay._version import __version__
from embassay.core.arrays import Floats, Ints, Texts
from embassay.core.errors import SpecError, begun
from embassay.core.formatting import counted
from embassay.core.result import Audit, EncoderFacts, Result
from embassay.core.samples.base import Role, Sample, Text
from embassay.core.samples.checks import SAMPLES, check_each
from embassay.core.samples.retrieval import Document, Question, StoredDocuments, places_of
from embassay.core.samples.units import label_sets
from embassay.core.store.hashes import sha256_of as sha256_of
from embassay.core.vectors import VectorMatrix, Vectors

S = TypeVar("S", bound=Sample)
JsonObject = dict[str, Any]
"""An object read from a JSON file; its content is not checked yet."""
MAX_LISTED = 8
"""Texts that are shown with a sample, at most: right documents, sentences of its group."""


def content_hash(value: object) -> str:
    """Return 16 hexadecimal digits of a SHA-256 over a JSON value, keys sorted."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, repr=False)
class Corpus(Generic[S]):
    """Samples of one shape.

    Attributes
    ----------
    name
        The label in every table.
    shape
        What the samples are: ``choice``, ``composition``, ``groups``, ``minimal_pairs``, ``pairs`` or ``retrieval``, or
        a shape of another package's diagnostic. A diagnostic says which shape it needs.
    licence, source
        Its origin; ``source`` says how it was made (hand-written, generated …).
    builtin
        True for the small corpora that ship with the package: no best model is named on them.
    notes
        How the loader read the source and what it assumed, one sentence each.
    filtered_with
        Specs of the encoders that selected its samples; the corpus favours them.
    documents
        For questions, the documents to search, including those that answer no question: a tuple, or
        :class:`StoredDocuments`, whose vectors only a ``vectors:FOLDER`` encoder has.
    cut
        In a run that cuts the documents in several ways, how they are cut here: ``passages=100``.
    settings
        The options that advice depends on, where the user has set them: ``passages`` and ``unit``.
    file
        The file or folder that it was read from; empty for a corpus that was made in Python.
    document_noun
        What its documents are called in sentences: ``page``, ``paragraph``.

    Examples
    --------
    >>> corpus = ea.Corpus("weather", "pairs", (ea.Pair("1", "It rained.", "There was rain.", 0.9),))
    >>> list(corpus.texts())
    [('text', 'It rained.'), ('text', 'There was rain.')]
    """

    name: str
    shape: str
    samples: tuple[S, ...]
    licence: str = "unknown"
    source: str = ""
    loader: str = ""
    builtin: bool = False
    notes: tuple[str, ...] = ()
    filtered_with: tuple[str, ...] = ()
    documents: Sequence[Document] = ()
    cut: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    file: str = field(default="", compare=False)
    document_noun: str = field(default="document", compare=False)

    def __repr__(self) -> str:
        """Return name, shape and size in one line."""
        return f"<Corpus {self.name!r}: {self.shape}, {counted(len(self.samples), 'item')}>"

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of the content: shape, samples and documents, not the name."""
        content = [self.shape, [[sample.id, sample.unit, *sample.texts(), vars(sample)] for sample in self.samples]]
        if self.stored_documents is not None:
            content.append(self.stored_documents.fingerprint)
        elif self.documents:
            content.append([[document.id, *document.passages] for document in self.documents])
        return content_hash(content)

    @property
    def stored_documents(self) -> StoredDocuments | None:
        """The documents, if only their vectors are available and not their texts; else None."""
        return self.documents if isinstance(self.documents, StoredDocuments) else None

    @property
    def key(self) -> str:
        """Its label, with how its documents are cut where that varies: the same for no two corpora of a run."""
        return f"{self.name},{self.cut}" if self.cut else self.name

    @property
    def is_cut(self) -> bool:
        """Whether some document has several passages."""
        return any(len(document.passages) > 1 for document in self.document_of.values())

    def need_texts(self, purpose: str) -> None:
        """Raise SpecError if the texts of the documents are not available.

        Parameters
        ----------
        purpose
            What needs them, as the beginning of the message.
        """
        if self.stored_documents:
            raise SpecError(
                f"{purpose} needs the texts of the documents, and corpus {self.name!r} has only their vectors "
                f"({self.stored_documents.vectors.folder}); give the documents themselves"
            )

    @cached_property
    def _label_sets(self) -> tuple[Ints, Ints]:
        return label_sets(self.samples)

    @property
    def units(self) -> Ints:
        """(n,) the unit of independence of each sample, from 0: of a question with several labels, its label set."""
        return self._label_sets[0]

    @property
    def unit_labels(self) -> Ints:
        """(m, 2) each unit with each of its labels; empty where no two units share one."""
        return self._label_sets[1]

    def check(self) -> None:
        """Refuse content that cannot be measured; loaders have refused it already, and name the line.

        Raises
        ------
        SpecError
            For the first error, with the number of the sample or document.
        """
        corpus = f"corpus {self.name!r}"
        # Documents alone are enough for diagnostics that need no questions.
        if not self.samples and not self.documents:
            raise SpecError(f"{corpus} has no samples")
        if self.shape == "retrieval" and not self.documents:
            raise SpecError(f"{corpus} has questions but no documents; pass documents=")
        check_each(f"{corpus}, sample", self.samples, SAMPLES.get(self.shape, Sample))
        # There may be too many stored ones to look at one by one.
        if not self.stored_documents:
            check_each(f"{corpus}, document", self.documents, Document)
            for number, document in enumerate(self.documents):
                if problem := document.contradiction():
                    raise SpecError(f"{corpus}, document {number}: {problem}")
        places = places_of([sample for sample in self.samples if isinstance(sample, Question)], self.documents)
        for number, sample in enumerate(self.samples):
            unknown = [right for right in getattr(sample, "right", ()) if right not in places]
            problem = f"the right document {unknown[0]!r} is not in the corpus" if unknown else sample.contradiction()
            if problem:
                raise SpecError(f"{corpus}, sample {number}: {problem}")

    def texts(self) -> tuple[Text, ...]:
        """Return the distinct (role, text), in the order in which they are first seen."""
        texts = [text for sample in self.samples for text in sample.texts()]
        for document in self.document_of.values():
            texts += [("document", passage) for passage in document.passages]
        return tuple(dict.fromkeys(texts))

    def learnt(self) -> tuple[str, ...]:
        """Return the texts that an encoder may learn its words from: the documents, where there are any, else all."""
        documents = [text for role, text in self.texts() if role == "document"]
        return tuple(dict.fromkeys(documents or [text for _, text in self.texts()]))

    def passage(self, reference: str) -> str:
        """Return a passage by its document's id and its number: ``id#0``.

        Raises
        ------
        KeyError
            If there is no such document.
        """
        name, _, number = reference.rpartition("#")
        # Of a stored document there is no text; its id stands for it.
        return name if self.stored_documents else self.document_of[name].passages[int(number)]

    @cached_property
    def document_of(self) -> dict[str, Document]:
        """The documents by their ids; none that are stored, whose texts are not available."""
        return {} if self.stored_documents else {document.id: document for document in self.documents}

    def shown(self, sample: S) -> dict[str, str]:
        """Return the texts of a sample by name, for people; of a question also how its right documents begin."""
        shown = dict(sample.fields())
        right = getattr(sample, "right", ())
        # Of stored documents, the ids are shown.
        if right and self.document_of:
            texts = (" ".join(self.document_of[name].passages) for name in right[:MAX_LISTED])
            shown["right"] = " / ".join(map(begun, texts))
        return shown

    def audit(self) -> Audit:
        """Count items, units, duplicate rows and distinct texts."""
        rows = [sample.texts() for sample in self.samples]
        passages = sum(len(document.passages) for document in self.document_of.values())
        return Audit(
            items=len(rows),
            units=len(np.unique(self.units)),
            duplicates=len(rows) - len(set(rows)),
            distinct_texts=len(self.texts()),
            documents=len(self.documents),
            # A stored document is one row.
            passages=passages or len(self.documents),
        )


AnyCorpus = Corpus[Any]
"""A corpus of any shape."""


@dataclass(frozen=True)
class Card(EncoderFacts):
    """What is known of an encoder without running it.

    Attributes
    ----------
    fitted
        True when it learns from a corpus's texts before it encodes.
    cached
        True when its vectors are stored in the cache.
    shapes
        The only corpus shapes that it can be used with; all if empty.
    remote
        True when texts are sent to a service: requests are sent only when they are needed.
    route
        How its vectors are computed if there are several ways, whose vectors agree to 1e-6; empty for the usual one. It
        is part of the key in the cache, and not of the fingerprint.
    target, options
        Scheme and model, and the options that are set by name, where a spec is made of both; empty for all others.
    stores_vectors
        True when it has the vectors of documents that are in a folder of parts.
    relearns
        True when it learns again from the training texts of each fold, so that it never learns from test texts.
    known
        True when the fingerprint covers everything that its vectors depend on. If not, as for a function without a
        source file, its scores are never reused.
    full
        The encoder whose vectors it is computed from (``BaseEncoder.derive``); None if it
        encodes by itself.
    is_sparse
        True when most numbers of a vector are 0, and how many are not depends on its text.

    Examples
    --------
    >>> ea.encoder("bow").card.spec, ea.encoder("random").card.is_chance
    ('bow', True)
    """

    fitted: bool = False
    cached: bool = True
    warnings: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    remote: bool = False
    route: str = ""
    target: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    stores_vectors: bool = False
    relearns: bool = False
    known: bool = True
    full: Encoder | None = field(default=None, repr=False)
    is_sparse: bool = False


class Encoder(Protocol):
    """Turns texts into vectors. Its fingerprint identifies its vectors.

    Optional abilities (own batches, token counts, releasing memory …) are in ``embassay.models.base``.

    Examples
    --------
    >>> encoder = ea.encoder("hashing,dim=8")
    >>> encoder.encode(["It rained."]).shape
    (1, 8)
    """

    @property
    def name(self) -> str:
        """A short name for people."""

    @property
    def fingerprint(self) -> str:
        """A hash of everything that its vectors depend on, including the texts it was fitted on.

        Vectors and scores are stored under it, so it must be the same in every process.
        """

    @property
    def card(self) -> Card:
        """What is known of it without running it."""

    def fit(self, texts: Sequence[str]) -> Encoder:
        """Return an encoder that has learnt from these texts; itself, if it learns nothing."""

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return the (n, d) float32 matrix of the texts, dense or CSR, in their order; d is the same in every call.

        Rows need not have length 1. They are finite; a row of zeros has no cosine, which is then undefined.
        """


def check_device(device: str) -> None:
    """Raise SpecError unless the text names a device: ``auto``, ``cpu``, ``mps``, ``cuda``, ``cuda:1``."""
    if not re.fullmatch(r"auto|cpu|mps|(cuda|xpu)(:\d+)?", device):
        raise SpecError(f"unknown device {device!r}; known: auto, cpu, cuda, cuda:1 …, mps, xpu")


@dataclass(frozen=True)
class Runtime:
    """How and where encoders run; nothing here changes what their vectors mean.

    Attributes
    ----------
    device
        ``auto``, or the name of a device, such as ``cuda:1``.
    backend
        ``auto``, or the route that a neural encoder must use.
    remembered
        Results of paid requests that are kept between runs: the probes of services.
    tell
        Takes a message while an encoder works, for example why it waits.

    Examples
    --------
    >>> ea.encoder("hashing", ea.Runtime(device="cpu")).name
    'hashing'
    """

    device: str = "auto"
    backend: str = "auto"
    trust_remote_code: bool = False
    remembered: MutableMapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    tell: Callable[[str], None] = field(default=lambda line: None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a device that has no such name, before any work."""
        check_device(self.device)


def hashes_of(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the hash of each of these files of a folder, by name."""
    return {name: sha256_of(folder / name) for name in names}


def cache_key(fingerprint: str, route: str) -> str:
    """Return the key of an encoder's vectors in the cache: vectors of two routes are not mixed in one run."""
    return f"{fingerprint}-{route}" if route else fingerprint


@dataclass(frozen=True)
class Origin:
    """Which diagnostic scored which encoder on which corpus.

    Attributes
    ----------
    baseline
        Whether the run added the encoder by itself.
    is_chance
        Whether its vectors are random.
    version
        Of the diagnostic: a number, or of another package's a hash of its source.
    reference
        Whether it is the encoder that the others are compared with.
    route
        The encoder's ``card.route``.
    group
        The group that the user put the encoder into; empty for none.
    published
        What papers call the model, where the spec does not say it; empty for none.
    parts
        The labels of the encoders that it is derived from.
    step
        What it adds to them: ``fusion``, ``index``, ``int8`` …; empty for a model of its own.

    Examples
    --------
    >>> origin = ea.Origin("isotropy", "", "handbook", "f1", "bow", "f2")
    >>> origin.encoder
    'bow'
    """

    diagnostic: str
    options: str
    corpus: str
    corpus_fingerprint: str
    encoder: str
    encoder_fingerprint: str
    spec: str = ""
    baseline: bool = False
    is_chance: bool = False
    version: str = ""
    reference: bool = False
    route: str = ""
    group: str = ""
    published: str = ""
    parts: tuple[str, ...] = ()
    step: str = ""

    @property
    def cache_key(self) -> str:
        """The key of the encoder's vectors in the cache."""
        return cache_key(self.encoder_fingerprint, self.route)


@dataclass(frozen=True)
class Draws:
    """The seed and the number of bootstrap resamples.

    Examples
    --------
    >>> ea.Draws(seed=1, resamples=200)
    Draws(seed=1, resamples=200)
    """

    seed: int = 0
    resamples: int = 1000


@dataclass(frozen=True)
class ItemScores:
    """The scores of one encoder on one corpus, item by item, before any statistics.

    Attributes
    ----------
    similarity_function
        What its closeness values are: ``cosine`` …
    item, unit
        (n,) stable ids and the unit of independence of each.
    unit_labels
        (m, 2) each unit with each of its labels, where units share labels; see ``Corpus.unit_labels``.
    labels
        (n,) strings by name, for example which words an item is about.
    values
        (n,) or (n, k) float64 by name; NaN is undefined.
    scalars
        Finite numbers by name that belong to no single item.

    Examples
    --------
    >>> import numpy as np
    >>> origin = ea.Origin("isotropy", "", "handbook", "f1", "bow", "f2")
    >>> item, unit, right = np.array(["a", "b"]), np.array([0, 1]), np.array([1.0, 0.0])
    >>> scores = ea.ItemScores(origin, "cosine", item, unit, labels={}, values={"right": right})
    >>> scores.values["right"].mean()
    np.float64(0.5)
    """

    origin: Origin
    similarity_function: str
    item: Texts
    unit: Ints
    labels: Mapping[str, Texts]
    values: Mapping[str, Floats]
    scalars: Mapping[str, float] = field(default_factory=dict)
    unit_labels: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together.

        Raises
        ------
        ValueError
            For labels that are no texts, values that are no float64, and units or values of another number than items.
        """
        texts, values = [self.item, *self.labels.values()], [*self.values.values()]
        if any(array.dtype.kind != "U" for array in texts) or any(array.dtype != np.float64 for array in values):
            raise ValueError("items and labels must be arrays of str, values arrays of float64")
        # A label may also be about something else than the items, for example the encoders.
        lengths = [len(array) for array in (self.item, self.unit, *values)]
        if len(set(lengths)) > 1:
            raise ValueError(f"units and values must have one entry for each item; items, units, values: {lengths}")

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits of the content; equal digests mean equal scores."""
        sha256 = hashlib.sha256(content_hash(dict(self.scalars)).encode())
        arrays = {"": self.item, "unit": self.unit, "unit labels": self.unit_labels}
        # Names are sorted: the order in which arrays were added is no part of the content.
        for part in (arrays, self.labels, self.values):
            for name, array in sorted(part.items()):
                sha256.update(f"{name}{array.dtype}{array.shape}".encode())
                # Values may be large: their bytes are hashed without a copy.
                sha256.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return sha256.hexdigest()[:16]

    def signature(self, draws: Draws, similarity_function: str = "", **more: str) -> str:
        """Return all that a figure made of these scores depends on, in one line.

        Parameters
        ----------
        similarity_function
            What the figure is of; the scores' own similarity function by default.
        more
            Anything else that it depends on, by name.
        """
        origin = self.origin
        diagnostic = origin.diagnostic
        if origin.version:
            diagnostic += f"@{origin.version}"
        if origin.options:
            diagnostic += f"({origin.options})"
        parts = {
            "corpus": f"{origin.corpus}@{origin.corpus_fingerprint}",
            "encoder": f"{origin.encoder}@{origin.encoder_fingerprint}",
            "similarity_function": similarity_function or self.similarity_function,
            "scores": self.digest,
            **more,
            "seed": draws.seed,
            "resamples": draws.resamples,
            "version": __version__,
        }
        return "|".join([diagnostic, *(f"{name}:{part}" for name, part in parts.items())])

    def of_corpus(self, *names: str) -> ItemScores:
        """Return values that depend on the corpus alone, under no encoder's name."""
        origin = replace(self.origin, encoder="", encoder_fingerprint="", spec="", baseline=False)
        values = {name: self.values[name] for name in names}
        return replace(self, values=values, origin=origin, labels={}, scalars={})


class Diagnostic(Protocol):
    """One published method, in two steps: see ``docs/decisions/diagnostics.md``.

    What one may do beyond that (refuse a corpus, set two side by side …) is in ``embassay.diagnostics.base``. Its
    module also has ``METRICS``, what it measures (:class:`~embassay.diagnostics.metrics.metric.Metric`), and, for a
    page of its own, ``LAYOUT``, a :class:`~embassay.core.layout.Layout`, or ``layout(result)``, which returns one.

    Examples
    --------
    >>> from embassay.core.plugins import DIAGNOSTICS
    >>> DIAGNOSTICS.module("isotropy").create().shape
    'any'
    """

    @property
    def shape(self) -> str:
        """The shape of corpus that it needs; ``any`` where it reads the texts of every corpus."""

    @property
    def options(self) -> str:
        """Its options that move a score, in a canonical form such as ``k=3,seed=1``; empty for the defaults."""

    def score(self, corpus: AnyCorpus, vectors: Vectors, origin: Origin) -> ItemScores:
        """Look at one encoder's vectors; no statistics.

        The n items and their order are the same for every encoder. The scores are kept on disk: they depend on the
        arguments and the options alone, and where chance is needed its seed is an option.
        """

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Look at all encoders' scores on one corpus; no vectors, no models.

        Parameters
        ----------
        scores
            One for each encoder, baselines included (``origin.baseline``); at least one.

        Returns
        -------
        Rows, comparisons, series, examples and a verdict. Encoders and corpora are added to it afterwards.
        """
