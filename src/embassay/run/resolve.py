"""Load what specs name: corpora, encoders and diagnostics."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from embassay.core.errors import MissingExtraError, SourceError, SpecError, UnknownNameError, begun, nearest
from embassay.core.plugins import CORPORA, DIAGNOSTICS, ENCODERS, RETRIEVERS
from embassay.core.store.paths import source_path
from embassay.core.tables.records import ARRAY, is_parquet, read_table
from embassay.core.tables.texts import BLANK, decoded
from embassay.core.types import AnyCorpus, Diagnostic, Encoder, Runtime
from embassay.diagnostics.base import BaseDiagnostic, ForeignDiagnostic
from embassay.models.addresses import without_secrets
from embassay.models.base import FullEncoder, adopted
from embassay.run.specs import Spec, as_spec, bind, known_options, parse
from embassay.search.retrievers.base import Retriever

Function: TypeAlias = Callable[[list[str]], Any]
"""Returns the (n, d) vectors of n texts."""
EncoderInput: TypeAlias = str | Spec | Encoder | Function
EncoderInputs: TypeAlias = Sequence[EncoderInput] | Mapping[str, EncoderInput] | EncoderInput
CorpusInput: TypeAlias = str | Spec | AnyCorpus
CorpusInputs: TypeAlias = Sequence[CorpusInput] | CorpusInput
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
    licence, loader = (str(options.pop(name, "")) for name in ("licence", "loader"))
    loader = loader or find_loader(spec.head, options)
    module = CORPORA.module(loader)
    path, what = source_path(spec.head), f"corpus {spec.head!r}"
    if getattr(module, "BUILTIN", False) and spec.head != loader:
        raise SpecError(f"{what}: {loader!r} is a built-in corpus and reads no file")
    # Only loaders of folders have the option, and one in the spec stays.
    if follow_links and "follow_links" in known_options(module.load):
        options.setdefault("follow_links", True)
    # The path "." has no name of its own.
    label = spec.label or (path.resolve().name if path.is_dir() else path.stem)
    corpus = module.load(str(path), label, **bind(module.load, options, what))
    # Our own loaders have checked the content already, and name the line of a mistake.
    if loader not in CORPORA.own_names():
        corpus.check()
    settings = {name: str(options[name]) for name in KEPT_SETTINGS if name in options}
    return replace(corpus, settings=settings, file=str(path), loader=loader, licence=licence or corpus.licence)


def load_encoder(spec: str | Spec | object, runtime: Runtime | None = None) -> FullEncoder:
    """Load an encoder; SpecError for what lists documents and has no vectors. For the rest see ``load_candidate``."""
    model = load_candidate(spec, runtime)
    if isinstance(model, Retriever):
        raise SpecError(f"{model.card.spec} lists documents and has no vectors; it can be used in a run only")
    return model


def load_candidate(
    spec: str | Spec | object, runtime: Runtime | None = None, *, name: str = "", version: str = ""
) -> FullEncoder | Any:  # Any is Retriever: almost all specs are encoders, and callers need not ask which.
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
        Identifies what an object computes; it must change whenever that changes. Without it, its vectors are not
        stored.

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
        return adopted(from_object(spec, name, version))
    if name or version:
        raise SpecError("name= and version= are only for objects; write NAME=SPEC; some specs have an option version=")
    return _create(as_spec(spec, "encoder"), runtime or Runtime())


def _create(spec: Spec, runtime: Runtime) -> FullEncoder | Retriever:
    """Return the encoder, or the retriever, that the plug-in of a spec's scheme creates."""
    scheme, target = scheme_of(spec.head)
    options = dict(spec.options)
    folder = ENCODERS if scheme in ENCODERS.names() else RETRIEVERS
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
    bound = bind(module.create, options, f"encoder {without_secrets(spec.head)!r}", hint)
    model: Encoder | Retriever = module.create(target, runtime, **bound)
    if isinstance(model, Retriever):
        return model

    # Called when the other encoder is needed.
    def load(other: str) -> Encoder:
        if not runtime.trust_remote_code and not is_safe_in_files(other):
            raise SpecError(
                f"{without_secrets(other)!r} is named by a file, and such an encoder can run code or send texts to a "
                "service; if you trust the file, add --trust-remote-code LABEL with the label of the encoder"
            )
        return load_encoder(other, runtime)

    return adopted(adopted(model).with_other(load))


def is_safe_in_files(spec: str) -> bool:
    """Return whether an encoder may be loaded because a file names it.

    All other encoders can run code or send texts to a service, and the author of the file chooses which.
    """
    scheme, _ = scheme_of(parse(spec, "encoder").head)
    return scheme in READ_FROM_FILES


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
        If there is no diagnostic of that name, an option does not fit, or a diagnostic of another package cannot be
        imported.
    """
    module = DIAGNOSTICS.module(spec.head)
    options = bind(module.create, spec.options, f"diagnostic {spec.head!r}")
    method: Diagnostic = module.create(**options)
    if not isinstance(method, BaseDiagnostic):
        # Its shape, options and two steps are those of the diagnostic itself.
        method = ForeignDiagnostic(method)  # type: ignore[abstract]
    return NamedDiagnostic(spec.head, method, options)


def labelled(encoders: EncoderInputs) -> list[tuple[str, EncoderInput]]:
    """Return encoders with the labels that a mapping gives them, else empty ones; one may stand alone."""
    if isinstance(encoders, Mapping):
        return list(encoders.items())
    several = encoders if isinstance(encoders, (list, tuple)) else [cast("EncoderInput", encoders)]
    return [("", encoder) for encoder in several]


def scheme_of(head: str) -> tuple[str, str]:
    """Return the scheme and the target of a spec's head.

    ``bm25`` has the scheme ``bm25`` and no target, ``onnx:./model`` the scheme ``onnx`` and the target ``./model``. A
    head without a scheme is the target of the default one.
    """
    schemes = {*ENCODERS.names(), *RETRIEVERS.names()}
    scheme, colon, target = head.partition(":")
    if scheme in schemes:
        return scheme, target
    if head.startswith("http://"):
        return "https", head
    # Other text before a colon, such as the drive in C:\models, belongs to a path.
    if colon and re.fullmatch(r"[a-z]+", scheme):
        raise UnknownNameError("encoder scheme", scheme, schemes)
    return DEFAULT_SCHEME, head


PEEK = 65_536
"""Characters after the first line that loaders recognise a file by."""
LONGEST_LINE = 16_000_000
MAX_SHOWN = 120
"""Characters that a message repeats of a file."""
USUAL_PRIORITY = 10
"""That of a loader of one format; loaders of any table or folder have a larger one."""
FILES = (
    "for a table, set first=, second= and score= for pairs, group= for groups, questions= for documents; "
    "known forms: see 'embassay list corpora'; set loader= to choose one"
)
FOLDERS = (
    "unrecognised folder; known forms: documents (.txt, .md, .rst and .html files, with or without questions=FILE), "
    "beir (corpus.jsonl, queries.jsonl, qrels/), trec (a file with topics or queries in its name, one "
    "with qrels, and the documents), msrp (msr_paraphrase_train.txt, msr_paraphrase_test.txt), "
    "opinosis (phrases.txt, phrase_groups.csv); set loader= to choose one"
)


def builtin_names() -> tuple[str, ...]:
    """Return the names of the corpora that need no file and no folder: the loaders that say so (``BUILTIN``)."""
    return tuple(name for name, module in CORPORA.modules().items() if getattr(module, "BUILTIN", False))


def find_loader(source: str, options: Mapping[str, object]) -> str:
    """Return the name of the loader of a source: a built-in corpus, a file or a folder.

    The loaders themselves recognise their formats; importing all of them takes about 70 ms.

    Raises
    ------
    SourceError
        If there is no such file, or no loader recognises it.
    """
    builtin, path = builtin_names(), source_path(source)
    if source in builtin:
        return source
    if not path.exists():
        raise SourceError(f"no such file; built-in corpora: {', '.join(builtin)}", path)
    if path.is_dir():
        if loader := _choose("recognises_folder", path, options):
            return loader
        raise SourceError(FOLDERS, path)
    if is_parquet(path):
        # A line of its columns.
        head = "\t".join(read_table(path).names)
    else:
        with decoded(path, errors="replace") as file:
            head = file.readline(LONGEST_LINE) + file.read(PEEK)
    if loader := _choose("recognises", head, options):
        return loader
    content = head.lstrip(BLANK)
    if not content:
        raise SourceError("the file is empty", path, 1)
    if content.startswith("["):
        raise SourceError(ARRAY, path)
    first = begun(content.splitlines()[0], MAX_SHOWN)
    raise SourceError(f"unrecognised format (its first line is {first!r}); {FILES}", path, 1)


def _choose(function: str, content: Path | str, options: Mapping[str, object]) -> str | None:
    """Return the name of the loader for a source; None if there is none.

    1. The loader of one format that recognises the content. It is surer than options: SQuAD stays SQuAD with an option
       of tables.
    2. Otherwise the only loader that has all options of the user, of which one is specific to it.
    3. Otherwise the loader of any table or folder that recognises the content.

    Parameters
    ----------
    function
        The function of a loader to ask: ``recognises`` for files, ``recognises_folder`` for folders.
    content
        What the function takes: the beginning of a file, or the path of a folder.
    options
        The options that the user gave for the corpus.
    """
    loaders = {name: module for name, module in CORPORA.modules().items() if hasattr(module, function)}
    priorities = {name: getattr(module, "PRIORITY", USUAL_PRIORITY) for name, module in loaders.items()}
    in_order = sorted(loaders, key=lambda name: priorities[name])
    by_content = next((name for name in in_order if getattr(loaders[name], function)(content)), None)
    is_sure = by_content is not None and priorities[by_content] <= USUAL_PRIORITY
    if is_sure:
        return by_content
    fitting = []
    for name, loader in loaders.items():
        known = known_options(loader.load)
        # A loader that shares options with others lists those that only it has.
        specific = getattr(loader, "SPECIFIC_OPTIONS", known)
        if options.keys() <= known and not specific.isdisjoint(options):
            fitting.append(name)
    return fitting[0] if len(fitting) == 1 else by_content
