"""The Python surface: assay, report, read, build, adapt. What the command line does, as functions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from embassay.errors import SpecError
from embassay.result import Result
from embassay.run.execute import execute
from embassay.run.pages import layouts
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_encoder
from embassay.store import results
from embassay.store.canonical import write
from embassay.store.paths import output_path, source_path
from embassay.types import Corpus, Encoder

if TYPE_CHECKING:
    from embassay.adaptation.options import AdaptOptions
    from embassay.adaptation.pipeline import Adapted
    from embassay.testsets.base import Advance, Built
    from embassay.testsets.generator.base import Request
    from embassay.testsets.options import Language


def assay(
    encoders: Sequence[str | Encoder] | Encoder = (),
    corpora: Sequence[str | Corpus[Any]] | Corpus[Any] = (),
    diagnostics: Sequence[str] = (),
    *,
    seed: int = 0,
    resamples: int = 1000,
    limit: int | None = None,
    reference: str = "",
    baselines: bool = True,
    device: str = "auto",
    backend: str = "auto",
    cache: str | Path | None = "default",
) -> Result:
    """Assay encoders on corpora, as ``embassay run`` does, and return the result.

    Parameters
    ----------
    encoders
        Specs, or objects that follow :class:`~embassay.types.Encoder` or that :func:`embassay.encoder` takes; a single
        one need not be in a list. The default encoder if empty. Each that is left out is named in a warning.
    corpora
        Sources, or corpora from :func:`embassay.load`; the built-in ones if empty.
    diagnostics
        Names, with options; all that fit the corpora if empty.
    seed, resamples
        The seed of every random draw, and the number of bootstrap resamples.
    limit
        Keep at most this many randomly chosen units of each corpus, each whole.
    reference
        Label of the encoder that each other one is compared with; the first one by default.
    baselines
        Whether tfidf, random and, on retrieval, bm25 join.
    device
        Where neural encoders run: ``auto``, ``cpu``, ``cuda`` …
    backend
        How they run: ``auto``, ``packed``, ``padded``, ``sentence-transformers``.
    cache
        Folder of the vector cache, ``"default"`` for the user's own; None for none.

    Raises
    ------
    InputError
        If something given cannot be used.
    EncoderError
        If everything fails. Where only some encoders or diagnostics fail, each is named in a warning and in
        ``result.failures``, and the others are in the result.
    """
    # Given out at the end, so that each warning points at the line of the caller.
    messages: list[str] = []
    request = RunRequest(
        encoders,
        corpora,
        diagnostics,
        seed=seed,
        resamples=resamples,
        limit=limit,
        baselines=baselines,
        reference=reference,
        device=device,
        backend=backend,
        cache=cache_of(cache),
        quiet=True,
        warn=messages.append,
    )
    plan = prepare(request)
    messages += plan.remarks
    for entry in plan.entries:
        if request.cache_folder and entry.encoder.card.spec.startswith("object:"):
            messages += [f"{entry.label}: {warning}" for warning in entry.encoder.card.warnings]
    outcome = execute(plan)
    if not outcome.result.rows:
        outcome.check()
    messages += [f"failed: {failure.sentence}" for failure in outcome.failures]
    for message in messages:
        warnings.warn(message, stacklevel=2)
    return outcome.result


def cache_of(cache: str | Path | None) -> Path | Literal["default"] | None:
    """Return the folder of a cache as a run takes it: ``"default"`` stands for the user's own."""
    if cache == "default":
        return "default"
    return output_path(cache) if cache else None


def report(
    result: Result,
    path: str | Path,
    speed: Mapping[str, float] | None = None,
    badges: Mapping[str, Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Write a result as one self-contained HTML file and return its path.

    Parameters
    ----------
    speed
        Texts per second by encoder, where it was measured; names the fastest of those not separable.
    badges
        By encoder how far its vectors can be trusted, as ``run.json`` has it.
    notes
        What was assumed or left out, as ``run.json`` has it.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    from embassay.reports.page import render

    path = output_path(path)
    write(path, render(result, layouts(result), speed, badges, notes).encode("utf-8", "replace"))
    return path


def read(path: str | Path) -> Result:
    """Read the result of a run: its folder, or its ``result.json``.

    Raises
    ------
    SourceError
        If it is no such file.
    """
    path = source_path(path)
    return results.read(path / "result.json" if path.is_dir() else path)


def adapt(
    base: str,
    corpora: str | Corpus[Any] | Sequence[str | Corpus[Any]],
    out: str | Path,
    options: AdaptOptions | None = None,
    *,
    general: Sequence[str | Corpus[Any]] = (),
    cache: str | Path | None = "default",
    overwrite: bool = False,
) -> Adapted:
    """Adapt a sentence-transformers model to a domain, as ``embassay adapt`` does.

    Parameters
    ----------
    base
        A model by name, or ``./folder``, with ``,option=value``: ``query_prompt``, ``document_prompt``,
        ``text_prompt``, ``max_length``, ``similarity``. They hold in training and assay and are kept in every variant.
    corpora
        Questions and documents: sources, or corpora from :func:`embassay.load`; learnt from together, tested each.
    out
        Folder of the variants, their run and the verdict. What it holds already of the same adaptation is used again.
    options
        How it is trained, split and assayed: ``ea.AdaptOptions(epochs=2)``.
    general
        General corpora, to see what is lost; built-in ones for the shapes of which none is given.
    cache
        Folder of the vector cache, ``"default"`` for the user's own; None for none.
    overwrite
        Replace another adaptation that the folder holds.

    Returns
    -------
    The result of all variants on the test questions and on general corpora, the verdict, and each variant's spec.

    Raises
    ------
    InputError
        If something given cannot be used; nothing has been trained by then.
    EncoderError
        If a training fails; what was finished is kept, and the same call goes on from there.
    """
    from embassay.adaptation.options import AdaptOptions
    from embassay.adaptation.pipeline import Adaptation
    from embassay.adaptation.request import AdaptRequest

    request = AdaptRequest(
        base,
        [corpora] if isinstance(corpora, (str, Corpus)) else corpora,
        output_path(out),
        options or AdaptOptions(),
        general=[general] if isinstance(general, (str, Corpus)) else general,
        overwrite=overwrite,
        cache=None if cache in (None, "default") else output_path(cache),
        use_cache=cache is not None,
    )
    return Adaptation.prepare(request).carry_out()


def build(
    kind: str,
    sources: str | Path | Sequence[str],
    out: str | Path | None = None,
    *,
    column: str = "",
    count: int | None = None,
    seed: int = 0,
    licence: str = "",
    language: Language = "en",
    review: str | Path = "",
    overwrite: bool = False,
    advance: Advance | None = None,
    **options: Any,
) -> Built:
    """Build a test set from sentences or documents of your own, as ``embassay build`` does.

    Parameters
    ----------
    kind
        The builder: ``minimal-pairs``, ``negated-antonyms``, ``groups``, ``composition`` or ``retrieval``.
    sources
        A file or a folder, or the texts themselves.
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
        Of the builder (``embassay list builders``); a ``generator`` and ``filters`` may be given by their specs, a
        masked language model (``mlm``) by its folder.

    Returns
    -------
    The samples, what was left out and why; ``.corpus(name)`` is what :func:`assay` takes.

    Raises
    ------
    InputError
        If the sources cannot be used, nothing can be built of them, or a file cannot be written.
    EncoderError
        If a generator or a filter fails; what a generator answered is kept beside ``out``, and the same call
        goes on from there.
    """
    from embassay.engine.masked import Masked
    from embassay.testsets.base import silent
    from embassay.testsets.files import Places, check_apart, check_free
    from embassay.testsets.generator.chat import generator
    from embassay.testsets.making import make, put
    from embassay.testsets.options import BuildOptions, Order

    places = None if out is None else Places(output_path(out))
    given = source_path(sources) if isinstance(sources, (str, Path)) else sources
    review_sheet = source_path(review) if str(review) else None
    if places is not None:
        check_free(places.written, overwrite)
        check_apart(places.every, [given, review_sheet])
    if isinstance(spec := options.get("generator"), str):
        options["generator"] = generator(spec, None if places is None else places.answers)
    if isinstance(folder := options.get("mlm"), (str, Path)):
        options["mlm"] = Masked(source_path(folder))
    if "filters" in options:
        options["filters"] = _encoders(options["filters"])
    common = BuildOptions(
        column=column, count=count, seed=seed, licence=licence, language=language, review=review_sheet
    )
    order = Order(kind, given, common, options, aside=() if places is None else places.every)
    built = make(order, advance or silent)
    if places is not None:
        check_free(places.written, overwrite)
        put(places.corpus, built, order)
    return built


@dataclass(frozen=True)
class GeneratorCost:
    """What a generator would be asked.

    Attributes
    ----------
    generator
        Its model and where it is.
    tokens, cost
        About how many, and what they cost in the price's currency; None without a price.
    """

    requests: tuple[Request, ...]
    generator: str
    tokens: int
    cost: float | None


def estimate(
    kind: str,
    sources: str | Path | Sequence[str],
    generator: str,
    out: str | Path | None = None,
    *,
    count: int | None = None,
    seed: int = 0,
    language: Language = "en",
    **options: Any,
) -> GeneratorCost:
    """Say what :func:`build` would ask a generator, and what that would cost; nothing is sent.

    What was answered to an earlier build of ``out`` costs nothing.

    Raises
    ------
    InputError
        If the sources or the generator cannot be used, or the builder asks none.
    """
    from embassay.testsets.files import Places
    from embassay.testsets.generator.chat import generator as make_generator
    from embassay.testsets.making import requests_of
    from embassay.testsets.options import BuildOptions, Order

    if not generator:
        raise SpecError("name the generator that would be asked: MODEL[,option=value…]")
    if "filters" in options:
        options["filters"] = _encoders(options["filters"])
    asked = make_generator(generator, None if out is None else Places(output_path(out)).answers)
    given = source_path(sources) if isinstance(sources, (str, Path)) else sources
    common = BuildOptions(count=count, seed=seed, language=language)
    requests = requests_of(Order(kind, given, common, options))
    return GeneratorCost(requests, asked.name, *asked.estimate(requests))


def _encoders(given: str | Encoder | Sequence[str | Encoder]) -> tuple[Encoder, ...]:
    """Return encoders that are given as such or by their specs; one of them may stand alone."""
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    return tuple(load_encoder(each) if isinstance(each, str) else each for each in several)
