"""A diagnostic that fails is named with its reason, and everything else finishes."""

from __future__ import annotations

import json

import numpy as np
import pytest

import embassay as ea
from embassay.diagnostics.localization.localization import Localization
from embassay.diagnostics.negated_antonyms import NegatedAntonyms
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest


def run(encoders=("hashing", "bow"), corpora=("opposites", "paraphrases"), diagnostics=()):
    request = RunRequest(
        list(encoders),
        list(corpora),
        list(diagnostics),
        profile="default" if diagnostics else "research",
        resamples=50,
        baselines=False,
        quiet=True,
    )
    return execute(prepare(request))


def failing_for(name, method, monkeypatch, diagnostic):
    """Make a diagnostic's method raise, for one encoder or for all."""
    real = getattr(diagnostic, method)

    def broken(self, *arguments):
        if name is None or name in {getattr(a, "encoder", None) for a in arguments}:
            raise np.linalg.LinAlgError("eigenvalues\n did not converge")
        return real(self, *arguments)

    monkeypatch.setattr(diagnostic, method, broken)


@pytest.mark.parametrize(("diagnostic", "method", "corpus"), [
    (NegatedAntonyms, "score", "opposites"),
    (Localization, "score", "paraphrases"),
])  # fmt: skip
def test_one_that_fails_on_one_encoder_is_recorded_and_the_others_finish(monkeypatch, diagnostic, method, corpus):
    failing_for("bow", method, monkeypatch, diagnostic)
    outcome = run()
    (failure,) = outcome.result.failed
    assert (failure.encoder, failure.corpus) == ("bow", corpus)
    assert failure.reason == "LinAlgError: eigenvalues did not converge"
    scored = {(row.encoder, row.corpus) for row in outcome.result.rows if row.diagnostic == failure.diagnostic}
    assert ("hashing", corpus) in scored
    assert ("bow", corpus) not in scored
    corpora_of_bow = {row.corpus for row in outcome.result.rows if row.encoder == "bow"}
    assert corpora_of_bow == {"opposites", "paraphrases"}


def test_where_the_reference_fails_the_others_are_compared_with_the_next(monkeypatch):
    failing_for("hashing", "score", monkeypatch, NegatedAntonyms)
    outcome = run(["hashing", "bow", "tfidf"], ["opposites"])
    (failure,) = outcome.result.failed
    assert failure.reason == "LinAlgError: eigenvalues did not converge"
    (verdict,) = (v for v in outcome.result.verdicts if v.diagnostic == "negated_antonyms")
    assert verdict.reference == "bow"


@pytest.mark.parametrize("returned", [None, "exception"])
def test_one_whose_summary_fails_leaves_all_others(monkeypatch, returned):
    if returned is None:
        monkeypatch.setattr(NegatedAntonyms, "summarise", lambda *_: None)
    else:
        failing_for(None, "summarise", monkeypatch, NegatedAntonyms)
    outcome = run()
    (failure,) = outcome.result.failed
    assert (failure.encoder, failure.diagnostic, failure.corpus) == ("", "negated_antonyms", "opposites")
    assert {row.diagnostic for row in outcome.result.rows} == {"localization", "isotropy"}


def test_the_command_says_so_once_and_ends_with_3(monkeypatch, tmp_path, capsys):
    from embassay.cli.app import exit_code_of

    failing_for("bow", "score", monkeypatch, NegatedAntonyms)
    folder = tmp_path / "RUN"
    arguments = ["run", "-e", "bow", "-e", "hashing", "-c", "opposites", "-o", str(folder), "--no-cache"]
    assert exit_code_of(arguments) == 3
    err = capsys.readouterr().err
    sentence = "bow, negated_antonyms on opposites: LinAlgError: eigenvalues did not converge"
    assert err.count(f"failed: {sentence}") == 1
    failure = json.loads((folder / "result.json").read_text())["failures"]
    assert [f["diagnostic"] for f in failure] == ["negated_antonyms"]
    assert sentence in (folder / "report.html").read_text()
    # What did not fail is kept; the same command tries the rest again.
    monkeypatch.undo()
    assert exit_code_of(arguments) == 0
    assert json.loads((folder / "result.json").read_text())["failures"] == []


class Partly:
    """Gives zero vectors to some texts: none, half, all but one, or all of them."""

    def __init__(self, zeros):
        self._zeros = zeros

    def encode(self, texts):
        rows = [np.random.default_rng(list(text.encode())).standard_normal(24) for text in texts]
        return np.array([row * (not self._zeros(text)) for row, text in zip(rows, texts, strict=True)], np.float32)


ONLY = next(iter(ea.load("paraphrases").texts()))[1]


@pytest.mark.parametrize("zeros", [
    lambda text: True,
    lambda text: len(text) % 2 == 0,
    lambda text: text != ONLY,
], ids=["all", "half", "all-but-one"])  # fmt: skip
@pytest.mark.slow
@pytest.mark.parametrize("others", [(), ("hashing",)])
def test_zero_vectors_on_every_shape_make_a_report(zeros, others, tmp_path):
    encoder = ea.encoder(Partly(zeros), name="partly", version="1")
    result = ea.assay([encoder, *others], resamples=50, baselines=False, cache=None)
    assert result.failed == ()
    page = ea.report(result, tmp_path / "report.html").read_text()
    assert "partly" in page


def test_sparse_vectors_with_wide_indices_are_vectors_as_any(tmp_path):
    from scipy.sparse import csr_array

    class Wide:
        def encode(self, texts):
            rows = csr_array(Partly(lambda text: False).encode(texts))
            indices, starts = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
            return csr_array((rows.data, indices, starts), shape=rows.shape)

    result = ea.assay([ea.encoder(Wide(), name="wide", version="1")], resamples=50, baselines=False, cache=None)
    assert result.failed == ()
