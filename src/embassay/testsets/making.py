"""From a user's file to a test set on disk: read, refuse, build, write corpus, card and sheet."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from embassay.corpora.io.documents import documents_in
from embassay.errors import InputError, SpecError, nearest
from embassay.plugins import BUILDERS
from embassay.testsets.base import Advance, Built, Reading
from embassay.testsets.card import Origin, card_of
from embassay.testsets.english.language import ANY, language_of, refuse_other
from embassay.testsets.files import Places, content_of, json_lines, name_of, write_all
from embassay.testsets.generator.chat import Request
from embassay.testsets.review import entries, read_review, review_of
from embassay.testsets.sheets import rows_of, sheet_of
from embassay.testsets.sources import Source, SourcePair, is_of_pairs, read_pairs, read_sentences, usable

ENGLISH = "en"
COMMON = ("seed", "count", "advance", "aside")
"""Parameters that every builder has."""


def make(
    kind: str,
    sources: Path | Sequence[Any],
    *,
    column: str,
    count: int | None,
    seed: int,
    licence: str,
    language: str,
    advance: Advance,
    options: Mapping[str, Any],
    review: str = "",
    aside: Sequence[Path] = (),
) -> tuple[Built, Origin]:
    """Read the sources, refuse what cannot be used, build.

    Parameters
    ----------
    kind
        The builder: ``minimal_pairs`` or ``minimal-pairs``.
    sources
        A file, or sentences.
    options
        Of the builder, and of its way of reading.
    review
        The sheet of an earlier build: what people confirmed on it joins the test set. Empty for none.
    aside
        Files that are no documents, though they lie in the folder of documents: what is written.

    Raises
    ------
    InputError
        If the sources cannot be read, are in another language, or nothing can be built of them.
    """
    begun = time.perf_counter()
    gathered = _gather(kind, sources, column, count, seed, language, options, aside)
    with BUILDERS.guarded(kind.replace("-", "_")):
        module, options_of_building = gathered.module, gathered.options
        built: Built = module.build(gathered.sources, seed=seed, count=count, advance=advance, **options_of_building)
    more = tuple(entries(built.doubtful, read_review(Path(review)))) if review else ()
    built = replace(
        built,
        samples=(*built.samples, *more),
        rejected=gathered.rejected + built.rejected,
        notes=(*gathered.notes, *built.notes),
        seconds=time.perf_counter() - begun,
        read=gathered.read,
    )
    if not built.samples:
        raise InputError(_nothing(gathered.name, gathered.read, built.rejected))
    asked = {"column": column, "count": count, "language": language, "review": review, **options}
    return built, Origin(
        kind.replace("_", "-"),
        gathered.name,
        _sha256(sources, aside, bool(options.get("follow_links"))),
        licence,
        seed,
        _told(asked),
    )


def requests_of(
    kind: str,
    sources: Path | Sequence[Any],
    *,
    column: str,
    count: int | None,
    seed: int,
    language: str,
    options: Mapping[str, Any],
) -> tuple[Request, ...]:
    """Return what a generator would be asked; nothing is sent.

    Raises
    ------
    InputError
        If the sources cannot be read or are in another language.
    SpecError
        If the builder asks no generator.
    """
    gathered = _gather(kind, sources, column, count, seed, language, options)
    ask = getattr(gathered.module, "requests", None)
    if ask is None:
        raise SpecError(f"builder {kind!r} asks no generator: there is nothing to estimate")
    taken = inspect.signature(ask).parameters
    chosen = {name: value for name, value in gathered.options.items() if name in taken}
    found: tuple[Request, ...] = ask(gathered.sources, seed=seed, count=count, **chosen)
    return found


@dataclass(frozen=True)
class _Gathered:
    """What a builder is given, and what was left out before."""

    module: ModuleType
    name: str
    sources: Sequence[Any]
    options: Mapping[str, Any]
    read: int
    rejected: Counter[str]
    notes: tuple[str, ...]


def _gather(
    kind: str,
    sources: Path | Sequence[Any],
    column: str,
    count: int | None,
    seed: int,
    language: str,
    options: Mapping[str, Any],
    aside: Sequence[Path] = (),
) -> _Gathered:
    """Read the sources and leave out what cannot be used."""
    _check(count, seed, language)
    module = BUILDERS.module(kind.replace("-", "_"))
    reading, building = _options(module, kind, options)
    found = _read(module, sources, column, reading, aside)
    name = str(sources) if isinstance(sources, Path) else "what was given"
    kept, rejected = _kept(found.sources, name, module, language)
    return _Gathered(module, name, kept, building, len(found.sources), rejected, found.notes)


def put(out: Path, built: Built, origin: Origin) -> Places:
    """Write a test set with its card and its sheet.

    Raises
    ------
    OutputError
        If a place cannot be written to.
    """
    lines = json_lines(built)
    corpus = name_of(out.name, content_of(lines))
    sheet = sheet_of(corpus, rows_of(built.samples, origin.seed, built.documents))
    card = card_of(corpus, origin, built, Places(out).sheet.name)
    return write_all(out, lines, card, sheet, review_of(built.doubtful) if built.doubtful else b"")


def _check(count: int | None, seed: int, language: str) -> None:
    if seed < 0:
        raise SpecError(f"seed must be 0 or more, is {seed}")
    if count is not None and count < 1:
        raise SpecError(f"count must be 1 or more, is {count}")
    if language not in {ENGLISH, ANY}:
        raise SpecError(f"language must be {ENGLISH} (others are refused) or {ANY}, is {language!r}")


def _options(module: ModuleType, kind: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divide the options into those of reading and those of building."""
    reading, building = _keywords(getattr(module, "read", None)), _keywords(module.build)
    for name in options:
        if name not in reading + building:
            guess = f"; did you mean {near!r}" if (near := nearest(name, reading + building)) else ""
            known = ", ".join(reading + building) or "none"
            raise SpecError(f"builder {kind!r} has no option {name!r}{guess}. Known: {known}")
    return {n: v for n, v in options.items() if n in reading}, {n: v for n, v in options.items() if n in building}


def _keywords(function: Any) -> tuple[str, ...]:
    if function is None:
        return ()
    found = inspect.signature(function).parameters.values()
    return tuple(p.name for p in found if p.kind is p.KEYWORD_ONLY and p.name not in COMMON)


def _read(
    module: ModuleType, sources: Path | Sequence[Any], column: str, options: Mapping[str, Any], aside: Sequence[Path]
) -> Reading:
    if not isinstance(sources, Path):
        return Reading(tuple(module.given(sources) if hasattr(module, "given") else _given(sources)))
    if not hasattr(module, "read"):
        pairs = not column and _takes_pairs(module) and is_of_pairs(sources)
        return Reading(read_pairs(sources) if pairs else read_sentences(sources, column))
    if column and "column" not in _keywords(module.read):
        raise SpecError("--column names a column of sentences, which this builder does not read")
    given: dict[str, Any] = {"column": column} if column else {}
    if "aside" in inspect.signature(module.read).parameters:
        given["aside"] = tuple(aside)
    found = module.read(sources, **given, **options)
    return found if isinstance(found, Reading) else Reading(tuple(found))


def _given(sources: Sequence[Any]) -> Sequence[Any]:
    """Return sentences that are given in Python as sources."""
    return [Source(s.strip(), n) if isinstance(s, str) else s for n, s in enumerate(sources, 1)]


def _takes_pairs(module: ModuleType) -> bool:
    """Say whether a builder's sources may be pairs, by their type."""
    return SourcePair.__name__ in str(inspect.signature(module.build).parameters["sources"].annotation)


def _kept(sources: Sequence[Any], name: str, module: ModuleType, language: str) -> tuple[Sequence[Any], Counter[str]]:
    """Leave out what cannot be used; refuse another language where the builder's rules know English only."""
    rejected = Counter[str]()
    if all(isinstance(source, Source) for source in sources):
        sources, rejected = usable(sources)
    elif _takes_pairs(module) and not hasattr(module, "read"):
        same = tuple(source for source in sources if source.same)
        rejected["pair that does not mean the same"] += len(sources) - len(same)
        sources, rejected = same, +rejected
    if ANY in (language, getattr(module, "LANGUAGES", ENGLISH)):
        return sources, rejected
    refuse_other((text for source in sources for text in _texts(source)), name)
    english = tuple(source for source in sources if all(language_of(t) in {"English", ""} for t in _texts(source)))
    if other := len(sources) - len(english):
        rejected["not English"] += other
    return english, rejected


def _texts(source: Any) -> tuple[str, ...]:
    return (source.first.text, source.second.text) if isinstance(source, SourcePair) else (source.text,)


def _nothing(name: str, read: int, rejected: Counter[str]) -> str:
    why = "; ".join(f"{number:,} × {reason}" for reason, number in rejected.most_common(3))
    return f"{name}: nothing can be built of its {read:,} rows" + (f" ({why})" if why else "")


def _told(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return options as a card shows them: a generator or an encoder by what it says of itself."""
    return {name: _shown(value) for name, value in options.items() if name != "prompt"}


def _shown(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return " ".join(str(_shown(each)) for each in value)
    return getattr(getattr(value, "card", None), "spec", None) or getattr(value, "name", None) or value


def _sha256(sources: Path | Sequence[Any], aside: Sequence[Path] = (), follow_links: bool = False) -> str:
    """Return the hash of a file's content; of a folder's documents those of their places and contents."""
    if isinstance(sources, Path) and sources.is_file():
        with sources.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    if isinstance(sources, Path):
        documents = documents_in(sources, aside, follow_links)
        found = ((file.relative_to(sources).as_posix(), _sha256(file)) for file in documents)
        return hashlib.sha256(repr(tuple(found)).encode("utf-8", "surrogatepass")).hexdigest()
    return hashlib.sha256("\n".join(map(str, sources)).encode("utf-8", "surrogatepass")).hexdigest()
