"""From a user's file to a test set on disk: read the sources, reject what cannot be used, build, write the files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from embassay.core.errors import InputError, SpecError, UnknownNameError
from embassay.core.formatting import counted
from embassay.core.plugins import BUILDERS
from embassay.core.store.canonical import write
from embassay.core.types import sha256_of
from embassay.run.specs import fitting, known_options
from embassay.stats.lexical.language import may_be_english, refuse_other
from embassay.testsets.base import Advance, Built, Reasons, silent
from embassay.testsets.card import card_of
from embassay.testsets.files import SetFiles, content_of, lines_of, name_of
from embassay.testsets.options import ANY, ENGLISH, Order
from embassay.testsets.sheets import rating_sheet
from embassay.testsets.sources import (
    SourceSentence,
    numbered,
    read_sentences,
    usable,
)

PARAMETERS_OF_ALL = {"seed", "count", "advance", "aside", "column", "exclude", "needs_ids"}
"""Keyword parameters of builders and readers that are not options of a kind."""


def make(order: Order, advance: Advance = silent) -> Built:
    """Build a test set: read the sources, reject what cannot be used, and let the builder do its work.

    Raises
    ------
    InputError
        If the sources cannot be read, are in another language, or nothing can be built from them.
    """
    options = order.options
    module = BUILDERS.module(order.kind.replace("-", "_"))
    builder_options = _checked_options(module, order)
    all_sources, notes = _read(module, order)
    sources, rejected = _usable_sources(module, order, all_sources)
    built: Built = module.build(sources, seed=options.seed, count=options.count, advance=advance, **builder_options)
    # The sum has no reasons with the number 0.
    rejected += built.rejected
    if not built.samples:
        main_reasons = "; ".join(f"{number:,} × {reason}" for reason, number in rejected.most_common(3))
        problem = f"{order.source_name}: nothing can be built from its {counted(len(all_sources), 'row')}"
        raise InputError(f"{problem} ({main_reasons})" if main_reasons else problem)
    notes = (*notes, *built.notes)
    if isinstance(order.sources, Path) and order.sources.is_file():
        sha256 = sha256_of(order.sources)
    else:
        content = "\n".join(map(str, all_sources))
        sha256 = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return replace(built, rejected=rejected, notes=notes, read=len(all_sources), sha256=sha256)


def put(out: Path, built: Built, order: Order) -> None:
    """Write a test set with its data card and its sheet.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    places = SetFiles(out)
    lines = lines_of(built)
    content = content_of(lines)
    corpus = name_of(out.name, content)
    write(places.sheet, rating_sheet(corpus, lines, order.options.seed))
    write(places.card, card_of(corpus, lines, order, built).encode())
    # The corpus is written last, so that if it exists, the other files exist too.
    write(out, content)


# --- Reading the sources ---


def _checked_options(module: ModuleType, order: Order) -> dict[str, Any]:
    """Return the options of the builder.

    Raises
    ------
    UnknownNameError
        For an option that neither it nor its reader has.
    SpecError
        For a value that is out of range.
    """
    # The signatures are the only list of options, so a new option cannot be forgotten elsewhere.
    of_builder = known_options(module.build)
    of_reader = known_options(module.read) if hasattr(module, "read") else frozenset()
    names = (of_builder | of_reader) - PARAMETERS_OF_ALL
    for name in order.kind_options:
        if name not in names:
            raise UnknownNameError(f"option of builder {order.kind!r}", name, names)
    kinds = get_type_hints(module.build, include_extras=True)
    options = {name: value for name, value in order.kind_options.items() if name in of_builder}
    for name, kind in kinds.items():
        # Encoders and generators are used as they are.
        if isinstance(value := options.get(name), (str, float, int)):
            fitting(value, kind, name)
    return options


def _read(module: ModuleType, order: Order) -> tuple[Sequence[Any], Sequence[str]]:
    """Read the sources with the builder's reader, or as sentences if it has none; return notes on them too."""
    if not isinstance(order.sources, Path):
        given = getattr(module, "given", numbered)
        return tuple(given(order.sources)), ()
    if not hasattr(module, "read"):
        return read_sentences(order.sources, order.options.column), ()
    options = {**order.kind_options, "aside": tuple(order.aside), "column": order.options.column}
    names = known_options(module.read)
    if order.options.column and "column" not in names:
        raise SpecError("--column names a column of sentences, which this builder does not read")
    sources, notes = module.read(order.sources, **{name: options[name] for name in names if name in options})
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
