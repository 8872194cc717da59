"""Assertions for your own pytest: a gate, and the contracts that every plug-in of a kind keeps.

from embassay.testing import assert_not_worse, check_diagnostic, check_encoder, check_loader, check_retriever
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from embassay.comparison.gate import Check
    from embassay.core.result import Result
    from embassay.core.samples.retrieval import Question
    from embassay.core.types import Corpus, Encoder
    from embassay.search.retrievers.base import Questions, Retriever

__all__ = ["assert_not_worse", "check_diagnostic", "check_encoder", "check_loader", "check_retriever"]
TEXTS = (
    "The shop is open.",
    "The shop is not open.",
    "It rains, and rains.",
    "Ein Satz auf Deutsch?",
    "a",
    "ÀÉ 中文 🙂",
)
"""Texts that encoders are tried on."""


def assert_not_worse(
    result: Result | str | Path,
    baseline: str | Path,
    *,
    margins: Mapping[str, float] | None = None,
    floors: Mapping[str, float] | None = None,
    on: Sequence[str] = (),
    strict: bool = False,
) -> Check:
    """Assert that no encoder is worse than in a baseline, by the rules of ``embassay check``.

    Parameters
    ----------
    result
        The result of :func:`embassay.assay`, or the folder of a run.
    baseline
        What ``embassay bless`` has written, or the folder of another run.
    margins
        By metric, the smallest loss that matters: ``{"Success@1": 0.02}`` is 2 points. The headline metrics are
        tested in any case, by default with the margins in the baseline.
    floors
        By metric, the smallest value that it may have; where lower is better, the largest.
    on
        Labels of diagnostics and corpora; only these are checked. All by default.
    strict
        Whether it fails where a loss of the margin cannot be excluded; by default that is a warning.

    Returns
    -------
    The check; its ``sentences`` say what was found.

    Raises
    ------
    AssertionError
        If the check fails; the message has one sentence for each metric that does not pass.
    InputError
        If the two cannot be compared.
    """
    __tracebackhide__ = True  # pytest shows the line of the caller
    from embassay.comparison.gate import check

    outcome = check(result, baseline, margins=margins, floors=floors, on=on, strict=strict)
    if outcome.exit_code:
        raise AssertionError("\n".join(outcome.reasons))
    for reason in outcome.reasons:
        warnings.warn(reason, stacklevel=2)
    return outcome


def check_encoder(encoder: str | Encoder, texts: Sequence[str] = TEXTS) -> None:
    """Assert that an encoder keeps its contract.

    One finite float32 row for each text, in their order and also for an empty one; the same vector alone and among
    others, to 1e-5; a fingerprint of 16 hexadecimal digits, which ``fit`` changes only in what it returns.

    Parameters
    ----------
    encoder
        Its spec, or the encoder.
    texts
        What it is tried on.

    Raises
    ------
    AssertionError
        For the first promise that it breaks.
    """
    from embassay.core.types import Card
    from embassay.run.resolve import load_encoder

    unfitted = load_encoder(encoder)
    before = unfitted.fingerprint
    fitted = unfitted.fit(list(texts))
    assert isinstance(fitted.card, Card), "card must be an embassay.Card"
    assert fitted.name, "name must not be empty"
    assert len(before) == 16, "fingerprint must have 16 hexadecimal digits"
    assert int(before, 16) >= 0, "fingerprint must have 16 hexadecimal digits"
    assert unfitted.fingerprint == before, "fit must leave the encoder as it was, and return another one"
    assert (fitted.fingerprint != before) == fitted.card.fitted, "card.fitted says whether fit learns from texts"
    if isinstance(encoder, str):
        assert load_encoder(encoder).fit(list(texts)).fingerprint == fitted.fingerprint, "loaded twice, it is another"
    vectors = _encoded(fitted, texts)
    assert vectors.dtype == np.float32, f"vectors must be float32, are {vectors.dtype}"
    assert vectors.ndim == 2 and len(vectors) == len(texts), f"one row for each text, not {vectors.shape}"
    assert np.isfinite(vectors).all(), "vectors must be finite"
    assert np.allclose(vectors[::-1], _encoded(fitted, texts[::-1]), atol=1e-5), "rows must be in the order of texts"
    for row, text in zip(vectors, texts, strict=True):
        assert np.allclose(_encoded(fitted, [text])[0], row, atol=1e-5), f"{text!r} has another vector alone"
    first, second = _encoded(fitted, [texts[0], texts[0]])
    assert np.array_equal(first, second), "equal texts must have equal vectors"
    assert np.isfinite(_encoded(fitted, [""])).all(), "an empty text needs a finite vector"


def _encoded(encoder: Encoder, texts: Sequence[str]) -> np.ndarray:
    """Return the (n, d) vectors of texts, dense."""
    matrix: Any = encoder.encode(list(texts), "text")
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def check_retriever(
    retriever: str | Retriever, corpus: Corpus[Question], encoders: Mapping[str, Encoder] | None = None
) -> None:
    """Assert that a retriever keeps its contract.

    A list for each question of the corpus, without repetitions and with scores that do not rise; the same lists again,
    for a part of the questions, and whatever documents are right.

    Parameters
    ----------
    retriever
        Its spec, or the retriever.
    encoders
        By label, the encoders that it is built on; by default the labels are specs.

    Raises
    ------
    AssertionError
        For the first promise that it breaks.
    EncoderError
        For a list that the engine refuses.
    """
    from dataclasses import replace

    from embassay.core.types import Card
    from embassay.run.resolve import load_candidate
    from embassay.search.exact.lists import of_rows
    from embassay.search.retrievers.base import Retriever

    loaded = load_candidate(retriever)
    assert isinstance(loaded, Retriever), "it must be an embassay.plugin.Retriever"
    assert isinstance(loaded.card, Card) and loaded.name, "name must not be empty"
    if isinstance(retriever, str):
        assert load_candidate(retriever).fingerprint == loaded.fingerprint, "loaded twice, it is another"
    questions = _questions(loaded, corpus, encoders or {})
    lists = _answers(loaded, questions)
    assert len(lists) == len(corpus.samples) and all(lists.values()), "each question needs a list"
    np.testing.assert_equal(_answers(loaded, questions), lists)
    rows = np.arange(len(corpus.samples))[::-3]
    for name, of_part in _answers(loaded, of_rows(questions, rows)).items():
        assert [place for place, _ in of_part] == [place for place, _ in lists[name]], f"{name}: another list alone"
        np.testing.assert_allclose([s for _, s in of_part], [s for _, s in lists[name]], atol=1e-5)
    blind = replace(corpus, samples=tuple(replace(sample, right=(), gains=()) for sample in corpus.samples))
    np.testing.assert_equal(_answers(loaded, _questions(loaded, blind, encoders or {})), lists)


def _questions(retriever: Retriever, corpus: Corpus[Question], encoders: Mapping[str, Encoder]) -> Questions:
    """Return all questions of a corpus, with what a retriever is built on."""
    from embassay.run.engine.encode import encode
    from embassay.run.resolve import load_encoder
    from embassay.search.exact.documents import nearest_documents
    from embassay.search.exact.lists import lists_of
    from embassay.search.retrievers.base import Questions

    parts, vectors_of = {}, {}
    for label in retriever.parts:
        encoder = (encoders.get(label) or load_encoder(label)).fit(list(corpus.learnt()))
        vectors, _ = encode(encoder, corpus.texts())
        parts[label] = lists_of(nearest_documents(corpus, vectors, retriever.depth), retriever.depth)
        if retriever.needs_vectors:
            vectors_of[label] = vectors
    return Questions(corpus, corpus.samples, parts, vectors_of, lambda encoder, texts: encode(encoder, texts)[0])


def _answers(retriever: Retriever, questions: Questions) -> dict[str, list[tuple[int, float]]]:
    """Return by question its documents and scores, checked as the engine checks them."""
    from embassay.search.exact.lists import joined, validated_lists

    lists = joined([validated_lists(given, questions, 0.0) for given in retriever.retrieve(questions)])
    answers = {}
    for row, documents, scores in zip(lists.rows, lists.documents.tolist(), lists.scores.tolist(), strict=True):
        pairs = zip(documents, scores, strict=True)
        answers[questions.samples[row].id] = [(place, score) for place, score in pairs if place >= 0]
    return answers


def check_diagnostic(
    diagnostic: str, corpora: Corpus[Any] | Sequence[str | Corpus[Any]], encoders: Sequence[str] = ("bow", "hashing")
) -> Result:
    """Assert that a diagnostic keeps its contract, and return its result.

    Rows that name it, its corpora and encoders of the run, each with a value or a reason and once; intervals in order;
    a declared direction for each metric where it declares metrics; the same bytes for the same seed; one encoder is
    enough; and vectors of zeros leave values undefined with a reason, not NaN.

    Parameters
    ----------
    diagnostic
        Its spec.
    corpora
        What it is tried on.
    encoders
        Specs of two encoders or more that need no model.

    Raises
    ------
    AssertionError
        For the first promise that it breaks.
    """
    from embassay.api import assay
    from embassay.core.plugins import DIAGNOSTICS
    from embassay.diagnostics.metrics.metric import declared
    from embassay.run.resolve import load_candidate
    from embassay.run.runs.results import to_bytes
    from embassay.run.specs import as_spec

    name = as_spec(diagnostic, "diagnostic").head

    def result_of(some_encoders: Sequence[Any]) -> Result:
        result = assay(some_encoders, corpora, [diagnostic], resamples=50, baselines=False, cache=None)
        assert not result.failed, result.failed[0].sentence
        assert result.rows, "there must be rows"
        for row in result.rows:
            assert row.value is not None or row.reason, f"{row.metric}: a value or a reason is needed"
        return result

    result = result_of(encoders)
    labels = {record.name for record in result.encoders} | {""}
    for row in result.rows:
        assert (row.diagnostic, row.encoder in labels) == (name, True), f"{row.metric}: names another run"
        assert row.low is None or row.high is None or row.low <= row.high, f"{row.metric}: low is above high"
    places = [(row.key, row.encoder) for row in result.rows]
    assert len(set(places)) == len(places), "two rows are of the same thing"
    if hasattr(DIAGNOSTICS.module(name), "METRICS"):
        for record in (*result.rows, *result.comparisons):
            # Raises where nothing is declared.
            assert declared(record.key).better, f"{record.metric}: no direction"
    assert to_bytes(result_of(encoders)) == to_bytes(result), "the same seed must give the same bytes"
    assert not result_of(encoders[:1]).comparisons, "one encoder alone has no comparisons"
    result_of([encoders[0], load_candidate(_Zeros(), name="zeros", version="1")])
    return result


class _Zeros:
    """An encoder whose vectors are all zero."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return (n, 8) zeros."""
        return np.zeros((len(texts), 8), dtype=np.float32)


def check_loader(source: str, loader: str) -> Corpus[Any]:
    """Assert that a loader keeps its contract, and return the corpus that it reads.

    It recognises its files without ``loader=``; what it reads is sound, has notes where they are due, and is the same
    when it is read again; a file that is cut short or is none is one message, not a traceback.

    Parameters
    ----------
    source
        A spec of a corpus without ``loader=``: a file or a folder that it should read.
    loader
        Its name.

    Raises
    ------
    AssertionError
        For the first promise that it breaks.
    """
    from tempfile import TemporaryDirectory

    from embassay.core.errors import InputError
    from embassay.run.resolve import load_corpus
    from embassay.run.specs import as_spec

    corpus = load_corpus(source)
    assert corpus.loader in ("", loader), f"{source} is read by the loader {corpus.loader!r}"
    corpus.check()
    assert load_corpus(f"{source},loader={loader}").fingerprint == corpus.fingerprint, (
        "read again, it is another corpus"
    )
    path = Path(as_spec(source, "corpus").head)
    if path.is_file():
        content = path.read_bytes()
        for damaged in (b"", content[: len(content) // 2], b"\x00" + content[::-1]):
            with TemporaryDirectory() as folder:
                copy = Path(folder, path.name)
                copy.write_bytes(damaged)
                try:
                    load_corpus(f"{copy},loader={loader}")
                except InputError as error:
                    assert len(str(error).splitlines()) == 1, "a message must be one line"
    return corpus
