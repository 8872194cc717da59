"""From names to things: a spec to an encoder, a source to a corpus."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from embassay.errors import MissingExtraError, SourceError, SpecError, UnknownNameError, nearest
from embassay.folder import CORPORA, ENCODERS
from embassay.specs import Spec, bind, known_options, parse
from embassay.types import Corpus, Encoder, Runtime

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
DEFAULT_SCHEME = "st"
BARE = ("bow", "tfidf", "hashing", "random")
"""Encoders that are named alone; a misspelt one is no model's name."""
PEEK = 65_536
LONGEST_LINE = 16_000_000
SHOWN = 120
"""Characters that a message repeats of a file."""


def load_corpus(source: str | Spec) -> Corpus[Any]:
    """Load ``[NAME=]SOURCE[,option=value…]``: the name of a built-in corpus, or a file.

    Raises
    ------
    SourceError
        If the file cannot be read as what it should be.
    """
    spec = parse(source, "corpus") if isinstance(source, str) else source
    options = dict(spec.options)
    loader = options.pop("loader", "") or _loader(spec.head, options)
    module = CORPORA.module(loader)
    if not hasattr(module, "recognises") and spec.head != loader:
        raise SpecError(f"corpus {spec.head!r}: {loader!r} is built in and reads no file")
    default = spec.head if spec.head == loader else Path(spec.head).stem
    path = str(Path(spec.head).expanduser())
    corpus: Corpus[Any] = module.load(
        path, spec.label or default, **bind(module.load, options, f"corpus {spec.head!r}")
    )
    return corpus


def load_encoder(spec: str | Spec, runtime: Runtime | None = None) -> Encoder:
    """Make the encoder of a spec such as ``all-MiniLM-L6-v2`` or ``random,dim=64``; labels are ignored here."""
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
    encoder: Encoder = module.create(
        target, runtime or Runtime(), **bind(module.create, spec.options, f"encoder {spec.head!r}")
    )
    return encoder


def builtin_names() -> tuple[str, ...]:
    """Return the names of the corpora that ship with the package: the plug-ins that read no file."""
    return tuple(name for name in CORPORA.names() if not hasattr(CORPORA.module(name), "recognises"))


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
    """Find the loader from a source's name or content, else from options that only one loader has."""
    if source in builtin_names():
        return source
    path = Path(source).expanduser()
    if not path.exists():
        guess = nearest(source, builtin_names())
        hint = f"; did you mean the built-in {guess!r}?" if guess else f"; built in: {', '.join(builtin_names())}"
        raise SourceError(f"no such file{hint}", path)
    head = _peek(path)
    loaders = [name for name in CORPORA.names() if name not in builtin_names()]
    for name in loaders:
        if CORPORA.module(name).recognises(head):
            return name
    takes = [name for name in loaders if options and set(options) <= known_options(CORPORA.module(name).load)]
    if len(takes) == 1:
        return takes[0]
    raise SourceError(_unrecognised(head, loaders), path, 1)


def _peek(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            return file.readline(LONGEST_LINE) + file.read(PEEK)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path) from None


def _unrecognised(head: str, loaders: Sequence[str]) -> str:
    known = f"known forms: {', '.join(loaders)} (see 'embassay list corpora'); say loader= to choose one"
    if not head.strip():
        return f"the file is empty; known forms: {', '.join(loaders)}"
    line = next(line for line in head.lstrip("\ufeff").splitlines() if line.strip())
    if not line.lstrip().startswith(("{", "[")):
        shown = f"{line[:SHOWN]!r}{'…' if len(line) > SHOWN else ''}"
        pairs = "a table of pairs is told by first=, second=, score="
        return f"of no known form (its first line is {shown}); {pairs}; {known}"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error} (JSON lines have one object on each line); {known}"
    found = f"fields {', '.join(sorted(row))[:SHOWN]}" if isinstance(row, dict) else "a JSON list"
    return f"of no known form ({found}); {known}"
