"""The Python surface: assay, report, read, build, adapt. What the command line does, as functions."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.result import Result, register_renderer
from embassay.core.store.canonical import write
from embassay.core.store.paths import output_path, source_path
from embassay.core.types import Corpus, Encoder
from embassay.reports.layouts import layouts
from embassay.run import command
from embassay.run.execute import execute
from embassay.run.items import Items, items_in
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import EncoderInputs, load_encoder
from embassay.run.runs import results
from embassay.run.runs.folder import RunFolder

if TYPE_CHECKING:
    from embassay.core.parts import Dtype
    from embassay.run.encode_texts import Encoded
    from embassay.testsets.base import Advance, Built
    from embassay.testsets.options import Language
    from embassay.training.adapt import Adapted
    from embassay.training.options import AdaptOptions
    from embassay.training.stage import Trained


def _renderer() -> Any:
    """Load what draws results."""
    from embassay.reports import notebook

    return notebook


register_renderer(_renderer)


def assay(
    encoders: EncoderInputs = (),
    corpora: Sequence[str | Corpus[Any]] | Corpus[Any] = (),
    diagnostics: Sequence[str] = (),
    *,
    profile: str = "default",
    seed: int = 0,
    resamples: int = 1000,
    limit: int | None = None,
    reference: str = "",
    accept: float | None = None,
    baselines: bool = True,
    examples: int | Literal["all"] = 100,
    device: str = "auto",
    backend: str = "auto",
    cache: str | Path | None = "default",
) -> Result:
    """Assay encoders on corpora, as ``embassay run`` does, and return the result.

    Parameters
    ----------
    encoders
        Specs, functions of a list of texts that return (n, d) numbers, or objects that follow
        :class:`~embassay.core.types.Encoder` or that :func:`embassay.encoder` takes; by their labels, in a list, or a
        single one. The default encoder if empty. A warning names each encoder that is left out.
    corpora
        Sources, or corpora from :func:`embassay.load`; the built-in corpora if empty.
    diagnostics
        Names, with options; those of the profile that fit the corpora if empty.
    profile
        ``default``, ``search``, ``dedup``, ``classification`` or ``research``: which diagnostics run.
    seed, resamples
        Seed for all random numbers, and the number of bootstrap resamples.
    limit
        Keep at most this many randomly chosen units of each corpus.
    reference
        Label of the encoder that the others are compared with; the first one by default.
    accept
        Loss at which a cheaper encoder is still used: 0.05 is 5 points; by default the margin of the headline.
    baselines
        Whether to add the baselines tfidf, random and, for retrieval, bm25.
    examples
        How many items of each diagnostic and corpus ``result.examples`` has, with their texts and what each encoder
        made of them: at most this many, drawn with the seed, or ``"all"``.
    device
        Where neural encoders run: ``auto``, ``cpu``, ``cuda`` …
    backend
        How neural encoders run: ``auto``, ``light``, ``torch``, ``sentence-transformers``.
    cache
        Folder of the vector cache, ``"default"`` for the user's own; None for none.

    Raises
    ------
    InputError
        If an input is invalid.
    EncoderError
        If everything fails. If only some encoders or diagnostics fail, a warning and ``result.failed`` name each of
        them, and the result has the others.

    Examples
    --------
    >>> result = ea.assay(["bow", "tfidf"], ["handbook"], ["retrieval"], baselines=False)
    >>> result.rank("retrieval")["encoder"].to_list()
    ['tfidf', 'bow']
    """
    started = time.perf_counter()
    # Issued at the end, so that each warning points to the line of the caller.
    messages: list[str] = []
    request = RunRequest(
        encoders,
        corpora,
        diagnostics,
        profile=profile,
        seed=seed,
        resamples=resamples,
        limit=limit,
        baselines=baselines,
        reference=reference,
        accept=accept,
        examples=examples,
        device=device,
        backend=backend,
        cache=cache_of(cache),
        quiet=True,
        warn=messages.append,
    )
    plan = prepare(request)
    messages += plan.remarks
    for entry in plan.entries:
        if request.vector_cache and not entry.card.known:
            messages += [f"{entry.label}: {warning}" for warning in entry.card.warnings]
    outcome = execute(plan)
    if not outcome.result.rows:
        outcome.check()
    messages += [f"failed: {failure.sentence}" for failure in outcome.result.failed]
    for message in messages:
        warnings.warn(message, stacklevel=2)
    save = partial(command.save, plan, outcome, time.perf_counter() - started)
    return replace(outcome.result, items=Items(lambda: outcome.tasks, write_run=save))


def encode_corpus(
    encoder: str,
    texts: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    id: str = "id",  # noqa: A002 - the name of the command's option
    text: str = "text",
    dtype: Dtype = "float32",
    executor: Literal["local", "ray"] = "local",
    workers: int = 1,
    device: str = "auto",
    trust_remote_code: bool = False,
) -> Encoded:
    """Encode Parquet files of any size into a folder of vectors, as ``embassay encode`` does.

    Call it again and only parts that are missing are made.

    Parameters
    ----------
    encoder
        A spec. Encoders that learn from the texts are refused.
    texts
        Parquet files; a single one need not be in a list.
    out
        Folder of the parts: Parquet files with ``id``, ``text_hash`` and ``vector``, of up to 10,000 rows.
    id, text
        The columns of ids, which must not repeat, and texts.
    dtype
        ``float32`` or ``float16``.
    executor
        ``local``: this process. ``ray``: tasks of Ray, on this machine or on the cluster at ``RAY_ADDRESS``.
    workers
        Ray tasks at a time.
    device
        Where a neural encoder runs: ``auto``, ``cpu``, ``cuda`` …
    trust_remote_code
        Let the encoder run code from its repository.

    Returns
    -------
    The numbers of rows, dimensions and parts, and how many parts were made now.

    Raises
    ------
    InputError
        If the input, the encoder or an option is invalid, the folder holds something else or cannot be written to, or
        Ray is not installed.
    EncoderError
        If the encoder fails, or a worker is killed again and again. Finished parts are kept.

    Examples
    --------
    >>> import polars
    >>> polars.DataFrame({"id": ["a", "b"], "text": ["It rained.", "We left."]}).write_parquet("texts.parquet")
    >>> ea.encode_corpus("hashing,dim=8", "texts.parquet", "vectors").rows
    2
    """
    from embassay.run.encode_options import EncodeOptions
    from embassay.run.encode_texts import encode_texts

    paths = [texts] if isinstance(texts, (str, Path)) else list(texts)
    options = EncodeOptions(
        id=id,
        text=text,
        dtype=dtype,
        executor=executor,
        workers=workers,
        device=device,
        trust_remote_code=trust_remote_code,
    )
    return encode_texts(encoder, paths, output_path(out), options, tell=lambda message: None, quiet=True)


def cache_of(cache: str | Path | None) -> Path | Literal["default"] | None:
    """Return the folder of a cache for a run; ``"default"`` is the cache of the user."""
    if cache == "default":
        return "default"
    return output_path(cache) if cache else None


def report(
    result: Result,
    path: str | Path,
    badges: Mapping[str, Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Write a result as one self-contained HTML file and return its path.

    Parameters
    ----------
    badges
        By encoder, the results of the robustness checks, as in ``run.json``.
    notes
        Assumptions, and what was left out, as in ``run.json``.

    Raises
    ------
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> result = ea.assay("bow", "handbook", "retrieval", baselines=False)
    >>> ea.report(result, "report.html").name
    'report.html'
    """
    from embassay.reports.page import render

    path = output_path(path)
    write(path, render(result, layouts(result), badges, notes).encode("utf-8", "replace"))
    return path


def read(path: str | Path, corpora: Sequence[str | Corpus[Any]] = ()) -> Result:
    """Read the result of a run: its folder, or its ``result.json``.

    Parameters
    ----------
    path
        With a folder, ``result.scores`` shows single items.
    corpora
        The corpora of the run, for the texts of single items. They may be omitted where the sources that the run was
        given can be read again.

    Raises
    ------
    SourceError
        If it is not the result of a run.

    Examples
    --------
    >>> import subprocess, sys
    >>> run = [sys.executable, "-m", "embassay", "run", "-e", "bow", "-c", "handbook", "-o", "finished"]
    >>> subprocess.run(run, capture_output=True).returncode
    0
    >>> ea.read("finished").rank("retrieval")["encoder"].to_list()
    ['bow']
    """
    path = source_path(path)
    if not path.is_dir():
        return results.read(path)
    result = results.read(path / "result.json")
    return replace(result, items=items_in(RunFolder(path), result, corpora))


def assay_vectors(
    corpus: str | Corpus[Any],
    matrices: Mapping[str, Any],
    diagnostics: Sequence[str] = (),
    *,
    seed: int = 0,
    resamples: int = 1000,
    baselines: bool = True,
    similarity: Literal["cosine", "dot"] = "cosine",
) -> Result:
    """Assay vectors that were made elsewhere.

    Parameters
    ----------
    corpus
        A source, or a corpus from :func:`embassay.load`.
    matrices
        By label an (n, d) array of numbers, with one row for each of ``corpus.texts()`` in its order: the distinct
        pairs of role and text.
    diagnostics
        Names, with options; those that fit the corpus if empty.
    seed, resamples
        Seed for all random numbers, and the number of bootstrap resamples.
    baselines
        Whether to add the baselines tfidf, random and, for retrieval, bm25.
    similarity
        How queries and documents are compared.

    Raises
    ------
    InputError
        If an input is invalid, or a matrix does not fit the corpus.

    Examples
    --------
    >>> import numpy as np
    >>> corpus = ea.load("opposites")
    >>> matrix = np.random.default_rng(0).normal(size=(len(list(corpus.texts())), 8))
    >>> result = ea.assay_vectors(corpus, {"mine": matrix}, ["negated_antonyms"], baselines=False)
    >>> [encoder.name for encoder in result.encoders]
    ['mine']
    """
    from embassay.models.exported.vectors import of_matrix
    from embassay.run.resolve import load_corpus

    loaded = load_corpus(corpus) if isinstance(corpus, str) else corpus
    if not matrices:
        raise SpecError("give at least one matrix, by its label")
    encoders = [of_matrix(label, matrix, loaded.texts(), similarity) for label, matrix in matrices.items()]
    return assay(encoders, [loaded], diagnostics, seed=seed, resamples=resamples, baselines=baselines, cache=None)


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
        ``text_prompt``, ``max_length``, ``similarity``. They apply to training and assay, in every variant.
    corpora
        Questions and documents: sources, or corpora from :func:`embassay.load`; trained on together, tested one by one.
    out
        Folder for the variants, their run and the verdict. Finished parts of the same adaptation are reused.
    options
        Options for training, splitting and assay: ``ea.AdaptOptions(epochs=2)``.
    general
        General corpora, to measure the loss; built-in corpora for the shapes not given.
    cache
        Folder of the vector cache, ``"default"`` for the user's own; None for none.
    overwrite
        Replace a different adaptation in the folder.

    Returns
    -------
    The result of all variants on the test questions and on general corpora, the verdict, and each variant's spec.

    Raises
    ------
    InputError
        If an input is invalid; nothing has been trained by then.
    EncoderError
        If a training fails; finished work is kept, and the same call continues.
    """
    from embassay.training.adapt import Adaptation, AdaptRequest
    from embassay.training.options import AdaptOptions

    request = AdaptRequest(
        base,
        [corpora] if isinstance(corpora, (str, Corpus)) else corpora,
        output_path(out),
        options or AdaptOptions(),
        general=[general] if isinstance(general, (str, Corpus)) else general,
        overwrite=overwrite,
        cache=cache_of(cache),
    )
    return Adaptation.prepare(request).carry_out()


def train(
    kind: Literal["words", "paragraphs", "urae"],
    text: str | Path,
    out: str | Path,
    *,
    overwrite: bool = False,
    advance: Advance | None = None,
    **options: Any,
) -> Trained:
    """Train an encoder on a text, as ``embassay train`` does; an interrupted training is continued.

    Parameters
    ----------
    kind
        ``words`` (word2vec), ``paragraphs`` (PV-DM, PV-DBOW) or ``urae`` (an unfolding recursive autoencoder).
    text
        File with one sentence per line.
    out
        Folder of the model.
    overwrite
        Replace another model in the folder.
    advance
        Called with the progress: sentences read so far and in all, over all epochs.
    options
        As those of the command: ``model="dbow"``, ``dim=100``.

    Returns
    -------
    The folder, the encoder's ``spec`` for :func:`assay`, and notes.

    Raises
    ------
    InputError
        For a text, a folder or an option that cannot be used.
    """
    from embassay.testsets.base import silent
    from embassay.training.options import KINDS
    from embassay.training.train import train as carry_out

    if kind not in KINDS:
        raise UnknownNameError("kind of training", kind, KINDS)
    known = [field.name for field in fields(KINDS[kind])]
    for name in options:
        if name not in known:
            raise UnknownNameError(f"option of the training of {kind}", name, known)
    chosen = KINDS[kind](**options)
    return carry_out(source_path(text), output_path(out), chosen, overwrite=overwrite, advance=advance or silent)


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
    overwrite: bool = False,
    advance: Advance | None = None,
    **options: Any,
) -> Built:
    r"""Build a test set from your own sentences or documents, as ``embassay build`` does.

    Parameters
    ----------
    kind
        The builder: ``minimal-pairs``, ``negated-antonyms``, ``groups``, ``composition`` or ``retrieval``.
    sources
        A file or a folder, or the texts themselves.
    out
        File of the test set, JSON lines; its data card and sheet are written next to it. None: no file.
    column
        Column of sentences, if it is not recognised by name.
    count
        Maximum number of samples; all by default.
    seed
        Seed for all random numbers.
    licence
        Licence of the sources, for the data card.
    language
        With ``en``, texts that are not English are refused; with ``any``, none is.
    overwrite
        Replace existing files.
    options
        Of the builder (``embassay list builders``); a ``generator``, an ``encoder`` and ``filters`` may be given by
        their specs, a masked language model (``mlm``) by its folder or its name on the hub.

    Returns
    -------
    The samples, what was left out and why; ``.corpus(name)`` is what :func:`assay` takes.

    Raises
    ------
    InputError
        If the sources cannot be used, nothing can be built from them, or a file cannot be written.
    EncoderError
        If a generator or a filter fails; the answers of a generator are kept next to ``out``, and the same call
        continues.

    Examples
    --------
    >>> from pathlib import Path
    >>> Path("pages").mkdir()
    >>> text = "Open the flap before you clean the filter. Turn it to the left and rinse it in warm water every month."
    >>> size = Path("pages/washer.md").write_text(text)
    >>> built = ea.build("retrieval", "pages", "questions", method="cloze")
    >>> len(built.samples)
    1
    """
    from embassay.core.types import Runtime
    from embassay.models.neural.locations import find
    from embassay.testsets.base import silent
    from embassay.testsets.build import make, put
    from embassay.testsets.files import SetFiles, check_apart, check_free
    from embassay.testsets.generator.chat import generator
    from embassay.testsets.masked_model import Masked
    from embassay.testsets.options import BuildOptions, Order

    places = None if out is None else SetFiles(output_path(out))
    given = source_path(sources) if isinstance(sources, (str, Path)) else sources
    if places is not None:
        check_free(places.written, overwrite)
        check_apart(places.every, given)
    if isinstance(spec := options.get("generator"), str):
        options["generator"] = generator(spec, None if places is None else places.answers)
    if isinstance(model := options.get("mlm"), (str, Path)):
        options["mlm"] = Masked(find(str(model), "", Runtime()).folder, str(model))
    if isinstance(spec := options.get("encoder"), str):
        options["encoder"] = load_encoder(spec)
    if "filters" in options:
        options["filters"] = _encoders(options["filters"])
    common = BuildOptions(column=column, count=count, seed=seed, licence=licence, language=language)
    order = Order(kind, given, common, options, aside=() if places is None else places.every)
    built = make(order, advance or silent)
    if places is not None:
        check_free(places.written, overwrite)
        put(places.corpus, built, order)
    return built


def _encoders(given: str | Encoder | Sequence[str | Encoder]) -> tuple[Encoder, ...]:
    """Return encoders from encoders or specs; a single one need not be in a list."""
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    return tuple(load_encoder(each) if isinstance(each, str) else each for each in several)
