"""The Python surface: assay, report, read, build. What the command line does, as functions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embassay.errors import EncoderError
from embassay.plan import prepare
from embassay.result import Result
from embassay.run import execute, layouts
from embassay.store import results
from embassay.store.cache import FileHashes, Remembered, VectorCache, default_folder, trouble_with
from embassay.store.canonical import write
from embassay.types import Corpus, Draws, Encoder, Runtime

if TYPE_CHECKING:
    from embassay.builders._built import Advance, Built


def assay(
    encoders: Sequence[str | Encoder] = (),
    corpora: Sequence[str | Corpus[Any]] | Corpus[Any] = (),
    diagnostics: Sequence[str] = (),
    *,
    seed: int = 0,
    resamples: int = 1000,
    limit: int | None = None,
    baselines: bool = True,
    device: str = "auto",
    cache: str | Path | None = "default",
) -> Result:
    """Assay encoders on corpora, as ``embassay run`` does, and return the result.

    Parameters
    ----------
    encoders
        Specs, or objects that follow :class:`~embassay.types.Encoder`; the default encoder if empty.
    corpora
        Sources, or corpora from :func:`embassay.load`; the built-in ones if empty.
    diagnostics
        Names, with options; all that fit if empty.
    seed, resamples
        Of every random draw, and how many resamples a bootstrap takes.
    limit
        Keep so many whole units of each corpus, drawn by the seed.
    baselines
        Whether tfidf, random and, on retrieval, bm25 join.
    device
        Where neural encoders run: ``auto``, ``cpu``, ``cuda`` …
    cache
        Folder of the vector cache, ``"default"`` for the user's own; None for none.

    Raises
    ------
    InputError
        If something given cannot be used.
    EncoderError
        If an encoder fails.
    """
    draws = Draws(seed, resamples)
    folder = default_folder() if cache == "default" else Path(cache) if cache else None
    if folder and cache == "default" and (reason := trouble_with(folder)):
        warnings.warn(f"no cache: {folder}: {reason}; vectors are not kept", stacklevel=2)
        folder = None
    runtime = Runtime(device, sha256=FileHashes(folder), remembered=Remembered(folder))
    plan = prepare(encoders, corpora, diagnostics, runtime=runtime, baselines=baselines, limit=limit, seed=seed)
    with VectorCache(folder) if folder else nullcontext() as vectors:
        outcome = execute(plan, draws, vectors)
    if outcome.failures:
        raise EncoderError("; ".join(outcome.failures.values()))
    return outcome.result


def report(
    result: Result,
    path: str | Path,
    speed: Mapping[str, float] | None = None,
    badges: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    """Write a result as one self-contained HTML file and return its path.

    Parameters
    ----------
    speed
        Texts per second by encoder, where it was measured; names the fastest of those not separable.
    badges
        By encoder how far its vectors can be trusted, as ``run.json`` has it.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    from embassay.reports.page import render

    path = Path(path)
    write(path, render(result, layouts(result), speed, badges).encode())
    return path


def read(path: str | Path) -> Result:
    """Read the result of a run: its folder, or its ``result.json``.

    Raises
    ------
    SourceError
        If it is no such file.
    """
    path = Path(path)
    return results.read(path / "result.json" if path.is_dir() else path)


def build(
    kind: str,
    sources: str | Path | Sequence[str],
    out: str | Path | None = None,
    *,
    column: str = "",
    count: int | None = None,
    seed: int = 0,
    licence: str = "",
    language: str = "en",
    review: str | Path = "",
    overwrite: bool = False,
    advance: Advance | None = None,
    **options: Any,
) -> Built:
    """Build a test set from sentences of your own, as ``embassay build`` does.

    Parameters
    ----------
    kind
        The builder: ``minimal-pairs``, ``negated-antonyms`` or ``groups``.
    sources
        A file, or the sentences themselves.
    out
        File of the test set, JSON lines; its data card and its sheets are written beside it. None: no file.
    column
        The file's column of sentences, where its name is not a known one.
    count
        How many to build; all by default.
    seed
        Of every random draw.
    licence
        What you may do with the sources, for the data card.
    language
        ``en`` refuses what is not English; ``any`` refuses nothing.
    review
        The review sheet of an earlier build, filled: what people confirmed on it joins the test set.
    overwrite
        Replace files that are there.
    options
        Of the builder (``embassay list builders``).

    Returns
    -------
    The samples, what was left out and why; ``.corpus(name)`` is what :func:`assay` takes.

    Raises
    ------
    InputError
        If the sources cannot be used, nothing can be built of them, or a file cannot be written.
    """
    from embassay.builders._built import silent
    from embassay.builders._files import Places, check_free
    from embassay.builders._making import make, put

    if out is not None:
        places = Places(Path(out))
        check_free((places.corpus, places.card, places.sheet, places.review), overwrite)
    built, origin = make(
        kind,
        Path(sources) if isinstance(sources, (str, Path)) else sources,
        column=column,
        count=count,
        seed=seed,
        licence=licence,
        language=language,
        advance=advance or silent,
        options=options,
        review=str(review),
    )
    if out is not None:
        put(Path(out), built, origin)
    return built
