"""Load what specs name: corpora, encoders and diagnostics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, cast

from embassay.core.errors import MissingExtraError, SpecError, UnknownNameError, nearest
from embassay.core.plugins import CORPORA, DIAGNOSTICS, ENCODERS, RETRIEVERS
from embassay.core.store.paths import source_path
from embassay.core.types import AnyCorpus, Corpus, Diagnostic, Encoder, Function, Runtime
from embassay.diagnostics.base import BaseDiagnostic, ForeignDiagnostic
from embassay.models.addresses import without_secrets
from embassay.models.base import adopted
from embassay.run.loaders import builtin_names, find_loader
from embassay.run.specs import Spec, as_spec, bind, known_options, parse
from embassay.search.retrievers.base import Retriever

EncoderInput: TypeAlias = str | Spec | Encoder | Function
EncoderInputs: TypeAlias = Sequence[EncoderInput] | Mapping[str, EncoderInput] | EncoderInput
DEFAULT_ENCODER = "all-MiniLM-L6-v2"
DEFAULT_SCHEME = "st"
WITHOUT_MODEL = ("bow", "tfidf", "bm25", "hashing", "random")
"""Schemes without a target. A misspelt one, such as ``tfdif``, must not be looked up as the name of a model."""
KEPT_SETTINGS = ("passages", "documents", "about", "chosen")
"""Options of corpora that sentences depend on: whoever has set one is not told to set it, and hard questions are none
to choose by."""
READ_FROM_FILES = frozenset("bm25 bow hashing hf onnx paragraphs random st tfidf urae vectors words".split())
"""Schemes of encoders that neither run foreign code nor send texts anywhere; a file may name them."""


def load_corpus(source: str | Path | Spec, *, follow_links: bool = False, **options: object) -> AnyCorpus:
    """Load ``[NAME=]SOURCE[,option=value…]``: the name of a built-in corpus, a file, or a folder.

    Parameters
    ----------
    follow_links
        Whether symbolic links inside a folder are followed; they are left out otherwise.
    options
        Further options of the source, which override those in its text: ``questions="questions.csv"``.

    Raises
    ------
    SourceError
        If the file or folder cannot be read in the format of its loader.
    UnknownNameError
        If its loader has no such option.

    Examples
    --------
    >>> corpus = ea.load("handbook")
    >>> corpus.shape, len(corpus.samples), len(corpus.documents)
    ('retrieval', 135, 301)
    """
    spec = as_spec(source, "corpus")
    options = {**spec.options, **options}
    # Every file has a licence, which only its user knows.
    licence = str(options.get("licence", ""))
    options_of_loader = {name: value for name, value in options.items() if name not in ("loader", "licence")}
    loader = str(options.get("loader", "")) or find_loader(spec.head, options_of_loader)
    module = CORPORA.module(loader)
    path = source_path(spec.head)
    if loader in builtin_names() and spec.head != loader:
        raise SpecError(f"corpus {spec.head!r}: {loader!r} is a built-in corpus and reads no file")
    # Only loaders of folders have the option, and one in the spec stays.
    if follow_links and "follow_links" in known_options(module.load):
        options_of_loader.setdefault("follow_links", True)
    # The path "." has no name of its own.
    label = spec.label or (path.resolve().name if path.is_dir() else path.stem)
    with CORPORA.guarded(loader):
        corpus = module.load(str(path), label, **bind(module.load, options_of_loader, f"corpus {spec.head!r}"))
        if not isinstance(corpus, Corpus):
            raise TypeError(f"load() returned {type(corpus).__name__}, not a Corpus")
        # Our own loaders have checked the content already, and name the line of a mistake.
        if loader not in CORPORA.own_names():
            corpus.check()
    settings = {name: str(options[name]) for name in KEPT_SETTINGS if name in options}
    licence = licence or corpus.licence
    return replace(corpus, settings=settings, file=str(path), loader=loader, licence=licence)


def load_encoder(spec: str | Spec | object, runtime: Runtime | None = None) -> Encoder:
    """Load an encoder; SpecError for what lists documents and has no vectors. For the rest see ``load_candidate``."""
    model = load_candidate(spec, runtime)
    if isinstance(model, Retriever):
        raise SpecError(f"{model.card.spec} lists documents and has no vectors; it can be used in a run only")
    return model


def load_candidate(
    spec: str | Spec | object, runtime: Runtime | None = None, *, name: str = "", version: str = ""
) -> Encoder | Retriever:
    """Load the encoder or the retriever of a spec such as ``all-MiniLM-L6-v2`` or ``hybrid:m+bm25``, without its label.

    Parameters
    ----------
    spec
        The spec, or an object that turns texts into vectors: LangChain's ``Embeddings``, LlamaIndex's
        ``BaseEmbedding``, a ``SentenceTransformer``, a model of mteb, or anything with ``encode(list of str)``; or one
        that finds documents: a retriever of LangChain (``invoke``) or of LlamaIndex (``retrieve``).
    name
        The name of an object; a spec has its label.
    version
        Identifies what an object computes; it must change whenever that changes. Without it, and without an attribute
        ``version`` or ``fingerprint`` of the object, its vectors are not stored. A ``SentenceTransformer`` needs none:
        it is identified by its weights.

    Raises
    ------
    InputError
        If the spec names no encoder, or the object is not an encoder.

    Examples
    --------
    >>> ea.encoder("hashing,dim=8").encode(["It rained.", "We left."]).shape
    (2, 8)
    """
    if isinstance(spec, Retriever):
        return spec
    if not isinstance(spec, (str, Spec)):
        from embassay.models.objects.foreign import from_object, is_encoder
        from embassay.search.retrievers import objects

        if objects.is_retriever(spec) and not is_encoder(spec):
            return objects.from_object(spec, name, version)
        return from_object(spec, name, version)
    if name or version:
        raise SpecError("name= and version= are only for objects; write NAME=SPEC; some specs have an option version=")
    return _create(as_spec(spec, "encoder"), runtime or Runtime())


def _create(spec: Spec, runtime: Runtime) -> Encoder | Retriever:
    """Return the encoder, or the retriever, that the plug-in of a spec's scheme creates."""
    scheme, target = scheme_of(spec.head)
    folder = ENCODERS if scheme in ENCODERS.names() else RETRIEVERS
    options = dict(spec.options)
    if scheme in RETRIEVERS.names() and options.get("kind") == RETRIEVERS.kind:
        # A scheme may stand for both: python:shop:search,kind=retriever.
        folder = RETRIEVERS
        del options["kind"]
    # A single word without a scheme means a model of Sentence Transformers, or a misspelt scheme.
    is_single_word = scheme == DEFAULT_SCHEME and "/" not in target and ":" not in spec.head
    if is_single_word and nearest(target, WITHOUT_MODEL):
        hint = f"For a folder write ./{target}, for a model of that name st:{target}."
        raise UnknownNameError("encoder", target, ENCODERS.names(), hint)
    try:
        module = folder.module(scheme)
    except MissingExtraError:
        if scheme != DEFAULT_SCHEME:
            raise
        # The user has not written the scheme.
        raise MissingExtraError(f"encoder {target!r}", "light") from None
    # What a target is, for messages ("FILE"); empty if the scheme takes none.
    target_name = getattr(module, "TARGET", "")
    if bool(target) != bool(target_name):
        raise SpecError(f"encoder {spec.head!r}: write {f'{scheme}:{target_name}'.rstrip(':')}")
    # The options of a candidate that a retriever is built on are taken for its own: hybrid:bm25,stemmer=english+m.
    hint = getattr(module, "OPTIONS_HINT", "")
    with folder.guarded(scheme):
        bound = bind(module.create, options, f"encoder {without_secrets(spec.head)!r}", hint)
        model: Encoder | Retriever = module.create(target, runtime, **bound)
    if isinstance(model, Retriever):
        return model

    # Called when the other encoder is needed.
    def load(other: str) -> Encoder:
        check_stored_spec(other, trusted=runtime.trust_remote_code)
        return load_encoder(other, runtime)

    return adopted(model).with_other(load)


def is_safe_in_files(spec: str) -> bool:
    """Return whether an encoder may be loaded because a file names it.

    All other encoders can run code or send texts to a service, and the author of the file chooses which.
    """
    scheme, _ = scheme_of(parse(spec, "encoder").head)
    return scheme in READ_FROM_FILES


def check_stored_spec(spec: str, *, trusted: bool) -> None:
    """Refuse an encoder that only a file names and that can run code or send texts.

    Parameters
    ----------
    trusted
        Whether the user allowed it on the command line.

    Raises
    ------
    SpecError
        If the spec is refused.
    """
    if not trusted and not is_safe_in_files(spec):
        raise SpecError(
            f"{without_secrets(spec)!r} is named by a file, and such an encoder can run code or send texts to a "
            "service; if you trust the file, add --trust-remote-code LABEL with the label of the encoder"
        )


@dataclass(frozen=True)
class NamedDiagnostic:
    """A diagnostic with its name and its options as they were given."""

    name: str
    method: BaseDiagnostic
    options: Mapping[str, object]


def load_diagnostic(spec: Spec) -> NamedDiagnostic:
    """Load the diagnostic of a spec.

    Raises
    ------
    InputError
        If there is no diagnostic of that name, an option does not fit, or a diagnostic of another package fails or
        lacks a member.
    """
    module = DIAGNOSTICS.module(spec.head)
    # Whatever a diagnostic of another package raises becomes a PluginError here, the AttributeError below included.
    with DIAGNOSTICS.guarded(spec.head):
        options = bind(module.create, spec.options, f"diagnostic {spec.head!r}")
        method: Diagnostic = module.create(**options)
        for name in ("shape", "options", "score", "summarise"):
            if not hasattr(method, name):
                raise AttributeError(f"create() returned an object without {name!r}")
    if not isinstance(method, BaseDiagnostic):
        # Its shape, options and two steps are those of the diagnostic itself.
        method = ForeignDiagnostic(method)  # type: ignore[abstract]
    return NamedDiagnostic(spec.head, method, options)


def encoder_list(encoders: EncoderInputs) -> list[EncoderInput | tuple[str, EncoderInput]]:
    """Return encoders as a list, objects with a label of the user as pairs.

    A spec stands alone, and so does an object, even one that can be iterated.
    """
    if isinstance(encoders, Mapping):
        return [
            replace(as_spec(encoder, "encoder"), label=label) if isinstance(encoder, (str, Spec)) else (label, encoder)
            for label, encoder in encoders.items()
        ]
    if isinstance(encoders, (str, Spec)) or not isinstance(encoders, Iterable):
        return [encoders]
    if not isinstance(encoders, (list, tuple)):
        from embassay.models.objects.foreign import is_encoder
        from embassay.search.retrievers.objects import is_retriever

        # A SentenceTransformer is a sequence of its layers.
        if is_encoder(encoders) or is_retriever(encoders):
            return [cast("Encoder", encoders)]
    return list(encoders)


def default_label(spec: Spec) -> str:
    """Return the label of an encoder whose spec has none: its target, or its scheme if it has no target."""
    scheme, target = scheme_of(spec.head)
    return without_secrets(target) or scheme


def scheme_of(head: str) -> tuple[str, str]:
    """Return the scheme and the target of a spec's head.

    ``bm25`` has the scheme ``bm25`` and no target, ``onnx:./model`` the scheme ``onnx`` and the target ``./model``. A
    head without a scheme is the target of the default one.
    """
    schemes = {*ENCODERS.names(), *RETRIEVERS.names()}
    if head in schemes:
        return head, ""
    before_colon, colon, target = head.partition(":")
    if colon and before_colon in schemes:
        return before_colon, target
    if head.startswith("http://"):
        return "https", head
    # Other text before a colon, such as the drive in C:\models, belongs to a path.
    if colon and re.fullmatch(r"[a-z]+", before_colon):
        raise UnknownNameError("encoder scheme", before_colon, schemes)
    return DEFAULT_SCHEME, head
