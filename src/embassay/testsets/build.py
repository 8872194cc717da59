"""From a user's file to a test set on disk: read the sources, reject what cannot be used, build, write the files."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from embassay.core.errors import InputError, SpecError, UnknownNameError
from embassay.core.formatting import counted
from embassay.core.plugins import BUILDERS
from embassay.core.samples.units import independent_units
from embassay.core.types import sha256_of
from embassay.corpora.io.documents import documents_in
from embassay.stats.lexical.language import may_be_english, refuse_other
from embassay.testsets.base import Advance, Built, Reasons, silent
from embassay.testsets.card import card_of
from embassay.testsets.files import SetFiles, content_of, lines_of, name_of, write_files
from embassay.testsets.options import ANY, ENGLISH, Order
from embassay.testsets.sheets import rating_sheet, review_of, reviewed
from embassay.testsets.sources import (
    SourceSentence,
    numbered,
    read_sentences,
    usable,
)

PARAMETERS_OF_ALL = ("seed", "count", "advance", "aside", "exclude", "needs_ids")
"""Keyword parameters of builders and readers that are not options of a kind."""
ONE_UNIT = (
    "the test set has a single unit of independence: use it to try things out; nothing can be said of an encoder from "
    "one unit"
)


def make(order: Order, advance: Advance = silent) -> Built:
    """Build a test set.

    Raises
    ------
    InputError
        If the sources cannot be read, are in another language, or nothing can be built from them.
    """
    built = _built(order, advance)
    review = order.options.review
    if review is not None:
        built = reviewed(built, review)
    if len(set(independent_units(built.samples))) == 1:
        built = replace(built, notes=(*built.notes, ONE_UNIT))
    if not built.samples:
        main_reasons = "; ".join(f"{number:,} × {reason}" for reason, number in built.rejected.most_common(3))
        problem = f"{order.source_name}: nothing can be built from its {counted(built.read, 'row')}"
        raise InputError(f"{problem} ({main_reasons})" if main_reasons else problem)
    return built


def _built(order: Order, advance: Advance) -> Built:
    """Read the sources, reject what cannot be used, and let the builder do its work."""
    options = order.options
    options.check()
    module = BUILDERS.module(order.builder)
    builder_options = _checked_options(module, order)
    all_sources, notes = _read(module, order)
    sources, rejected = _usable_sources(module, order, all_sources)
    built: Built = module.build(sources, seed=options.seed, count=options.count, advance=advance, **builder_options)
    return replace(
        built,
        # The sum has no reasons with the number 0.
        rejected=rejected + built.rejected,
        notes=(*notes, *built.notes),
        read=len(all_sources),
    )


def put(out: Path, built: Built, order: Order) -> None:
    """Write a test set with its data card and its sheets.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    places = SetFiles(out)
    lines = lines_of(built)
    content = content_of(lines)
    corpus = name_of(out.name, content)
    contents = {
        places.sheet: rating_sheet(corpus, lines, order.options.seed),
        places.card: card_of(corpus, lines, order, built, _sources_hash(order)).encode(),
        # The corpus is written last, so that if it exists, the other files exist too.
        out: content,
    }
    review = review_of(built)
    if review:
        contents = {places.review: review} | contents
    write_files(contents)


# --- Reading the sources ---


def _checked_options(module: ModuleType, order: Order) -> dict[str, Any]:
    """Return the options of the builder; raise UnknownNameError for one that neither it nor its reader has."""
    builder_names = _option_names(module.build)
    names = builder_names + (_option_names(module.read) if hasattr(module, "read") else ())
    for name in order.kind_options:
        if name not in names:
            raise UnknownNameError(f"option of builder {order.kind!r}", name, names)
    return {name: value for name, value in order.kind_options.items() if name in builder_names}


def _option_names(function: Callable[..., Any]) -> tuple[str, ...]:
    # The signature is the only list of a builder's options, so a new option cannot be forgotten elsewhere.
    parameters = inspect.signature(function).parameters.values()
    options = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    return tuple(name for name in options if name not in PARAMETERS_OF_ALL)


def _read(module: ModuleType, order: Order) -> tuple[Sequence[Any], Sequence[str]]:
    """Read the sources with the builder's reader, or as sentences if it has none; return notes on them too."""
    if not isinstance(order.sources, Path):
        given = getattr(module, "given", numbered)
        return tuple(given(order.sources)), ()
    if not hasattr(module, "read"):
        return read_sentences(order.sources, order.options.column), ()
    if order.options.column:
        raise SpecError("--column names a column of sentences, which this builder does not read")
    options = {**order.kind_options, "aside": tuple(order.aside)}
    parameters = inspect.signature(module.read).parameters
    sources, notes = module.read(order.sources, **{name: options[name] for name in parameters if name in options})
    return sources, notes


def _usable_sources(module: ModuleType, order: Order, sources: Sequence[Any]) -> tuple[Sequence[Any], Reasons]:
    """Reject sources that cannot be used, and other languages if the builder's rules are for English only."""
    rejected = Reasons()
    if all(isinstance(source, SourceSentence) for source in sources):
        sources, rejected = usable(sources)
    if ANY in (order.options.language, getattr(module, "LANGUAGES", ENGLISH)):
        return sources, rejected

    # A file in another language is refused as a whole; single sentences in one are left out.
    refuse_other([source.text for source in sources], order.source_name)
    english = [source for source in sources if may_be_english(source.text)]
    rejected["not English"] += len(sources) - len(english)
    return english, rejected


def _sources_hash(order: Order) -> str:
    """Return the SHA-256 of a file's content; for a folder, that of its documents' paths and contents."""
    sources = order.sources
    if not isinstance(sources, Path):
        content = "\n".join(map(str, sources))
    elif sources.is_file():
        return sha256_of(sources)
    else:
        follow_links = bool(order.kind_options.get("follow_links"))
        documents = documents_in(sources, order.aside, follow_links)
        content = repr(tuple((file.relative_to(sources).as_posix(), sha256_of(file)) for file in documents))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
