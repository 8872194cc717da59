"""Load what specs name: corpora, encoders and diagnostics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, cast

from embassay.core.errors import MissingExtraError, SpecError, UnknownNameError, nearest
from embassay.core.plugins import CORPORA, DIAGNOSTICS, ENCODERS, RETRIEVERS, Folder
from embassay.core.store.paths import source_path
from embassay.core.types import AnyCorpus, Corpus, Diagnostic, Encoder, Function, Runtime
from embassay.models.addresses import without_secrets
from embassay.models.base import adopted
from embassay.run.loaders import builtin_names, check_kind, find_loader
from embassay.run.specs import Spec, as_spec, bind, known_options, parse
from embassay.search.retrievers.base import Retriever

EncoderInput: TypeAlias = str | Spec | Encoder | Function
EncoderInputs: TypeAlias = Sequence[EncoderInput] | Mapping[str, EncoderInput] | EncoderInput
DEFAULT_ENCODER = "all-MiniLM-L6-v2"
DEFAULT_SCHEME = "st"
ABOUT_OF_UNIT = {"document": "new-documents", "question": "these-documents"}
"""What ``about`` is by the unit of independence: ``unit=question`` is another way to say it."""
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
    """
    spec = as_spec(source, "corpus")
    options = {**spec.options, **options}
    loader = str(options.pop("loader", ""))
    if not loader:
        loader = find_loader(spec.head, with_about(options))
    module = CORPORA.module(loader)
    if "about" in known_options(module.load):
        options = with_about(options)
    path = source_path(spec.head)
    is_builtin = loader in builtin_names()
    if is_builtin and spec.head != loader:
        raise SpecError(f"corpus {spec.head!r}: {loader!r} is a built-in corpus and reads no file")
    check_kind(loader, module, path)
    # Only loaders of folders have the option, and one in the spec stays.
    if follow_links and "follow_links" in known_options(module.load):
        options.setdefault("follow_links", True)

    if spec.label:
        label = spec.label
    elif is_builtin:
        label = spec.head
    elif path.is_dir():
        # The path "." has no name of its own.
        label = path.resolve().name
    else:
        label = path.stem
    with CORPORA.guarded(loader):
        bound_options = bind(module.load, options, f"corpus {spec.head!r}")
        corpus = module.load(str(path), label, **bound_options)
        if not isinstance(corpus, Corpus):
            raise TypeError(f"load() returned {type(corpus).__name__}, not a Corpus")
        # Our own loaders have checked the content already, and name the line of a mistake.
        if loader not in CORPORA.own_names():
            corpus.check()
    settings = {name: str(options[name]) for name in KEPT_SETTINGS if name in options}
    return replace(corpus, settings=settings, file=str(path))


def with_about(options: Mapping[str, object]) -> dict[str, object]:
    """Return options of a corpus with ``about`` in the place of ``unit``, which is another way to say it."""
    renamed = dict(options)
    if "unit" in renamed:
        unit = renamed.pop("unit")
        renamed.setdefault("about", ABOUT_OF_UNIT.get(str(unit), unit))
    return renamed


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
    """
    if isinstance(spec, Retriever):
        return spec
    if not isinstance(spec, (str, Spec)):
        from embassay.models.objects.foreign import from_object, is_encoder
        from embassay.search.retrievers import objects

        if objects.is_retriever(spec) and not is_encoder(spec):
            return objects.from_object(spec, name, version)
        return from_object(spec, name, version)
    if name:
        raise SpecError(f"name= is only for objects; write {name}=SPEC")
    if version:
        raise SpecError(f"version={version!r} is only for objects; some specs have an option version=")
    if runtime is None:
        runtime = Runtime()
    return _create(as_spec(spec, "encoder"), runtime)


def _create(spec: Spec, runtime: Runtime) -> Encoder | Retriever:
    """Return the encoder, or the retriever, that the plug-in of a spec's scheme creates."""
    scheme, target = scheme_of(spec.head)
    folder, options = _folder_of(scheme, spec.options)
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
    if target_name and not target:
        raise SpecError(f"encoder {spec.head!r}: write {scheme}:{target_name}")
    if target and not target_name:
        raise SpecError(f"write {scheme}, not {spec.head}")
    place = f"encoder {without_secrets(spec.head)!r}"
    # The options of a candidate that a retriever is built on are taken for its own: hybrid:bm25,stemmer=english+m.
    hint = getattr(module, "OPTIONS_HINT", "")
    with folder.guarded(scheme):
        model: Encoder | Retriever = module.create(target, runtime, **bind(module.create, options, place, hint))
    return model if isinstance(model, Retriever) else _with_other(model, runtime)


def _folder_of(scheme: str, options: Mapping[str, object]) -> tuple[Folder, Mapping[str, object]]:
    """Return the kind of plug-in that a scheme means, and its options without ``kind``, which chooses among two."""
    is_both = scheme in RETRIEVERS.names() and scheme in ENCODERS.names()
    if is_both and "kind" in options:
        if options["kind"] != RETRIEVERS.kind:
            raise SpecError(
                f"encoder '{scheme}:…': kind={options['kind']} is unknown; write kind={RETRIEVERS.kind} for a function "
                "that lists documents, or leave it out for one that makes vectors"
            )
        return RETRIEVERS, {name: value for name, value in options.items() if name != "kind"}
    if is_both or scheme in ENCODERS.names():
        return ENCODERS, options
    return RETRIEVERS, options


def _with_other(encoder: Encoder, runtime: Runtime) -> Encoder:
    """Return the encoder itself, or, if it encodes with another one that its file names, one that can load the other.

    The other encoder is loaded when it is needed.
    """

    def load(spec: str) -> Encoder:
        check_stored_spec(spec, trusted=runtime.trust_remote_code)
        return load_encoder(spec, runtime)

    return adopted(encoder).with_other(load)


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
    method: Diagnostic
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
    return NamedDiagnostic(spec.head, method, options)


def encoder_list(encoders: EncoderInputs) -> list[EncoderInput | tuple[str, EncoderInput]]:
    """Return encoders as a list, objects with a label of the user as pairs.

    A spec stands alone, and so does an object, even one that can be iterated.
    """
    if isinstance(encoders, Mapping):
        labelled: list[EncoderInput | tuple[str, EncoderInput]] = []
        for label, encoder in encoders.items():
            if isinstance(encoder, (str, Spec)):
                labelled.append(replace(as_spec(encoder, "encoder"), label=label))
            else:
                labelled.append((label, encoder))
        return labelled
    if isinstance(encoders, (list, tuple)):
        return list(encoders)
    if isinstance(encoders, (str, Spec)) or not isinstance(encoders, Iterable):
        return [encoders]
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
