"""A result and a corpus in a notebook: short, escaped, with scorecard and findings."""

import re
from dataclasses import replace

import altair
import pytest

import embassay as ea
from embassay.core.errors import SpecError
from embassay.core.result import Failure

EVIL = "<script>alert(1)</script>\x1b\u202e"


@pytest.fixture(scope="module")
def result():
    return ea.assay(["bow", "hashing"], ["opposites", "handbook"], resamples=50, cache=None)


def test_a_result_is_short_as_text(result):
    text = repr(result)
    assert len(text) < 1000
    assert text.startswith("<Result: ")
    assert repr(ea.Result(0, 10)) == "<Result: 0 encoders on ; 0 rows>"


def test_a_notebook_shows_scorecard_and_findings(result):
    html = result._repr_html_()
    assert "Success@5" in html
    assert re.search(r'<th scope="row">bow</th><td>[\d.]+%', html)
    assert result.answers[0].sentence[:40] in html
    assert result.findings[0].title in html
    assert len(html) < 20_000
    assert "<script" not in html
    assert "style=" not in html


def test_labels_and_reasons_stay_text(result):
    encoders = tuple(replace(e, name=EVIL if e.name == "bow" else e.name) for e in result.encoders)
    rows = tuple(replace(r, encoder=EVIL if r.encoder == "bow" else r.encoder) for r in result.rows)
    hostile = replace(result, encoders=encoders, rows=rows, failed=(Failure(EVIL, "", "", EVIL),))
    html = hostile._repr_html_()
    assert "<script" not in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_a_corpus_is_short_as_text(result):
    corpus = ea.load("handbook")
    assert repr(corpus) == "<Corpus 'handbook': retrieval, 135 items>"


def test_the_rank_is_that_of_the_verdict(result):
    frame = result.rank("retrieval")
    verdict = result.verdict("retrieval")
    assert frame["encoder"].to_list() == list(verdict.candidates)
    assert frame["value"].to_list() == sorted(frame["value"].to_list(), reverse=True)
    # No best encoder is named on a built-in corpus.
    assert frame["may_be_best"].null_count() == 2
    best = replace(verdict, best_set=("hashing",), reason=None)
    ranked = replace(result, verdicts=(best,)).rank("retrieval").to_dicts()
    by_name = {row["encoder"]: row for row in ranked}
    assert (by_name["hashing"]["may_be_best"], by_name["bow"]["may_be_best"]) == (True, False)


def test_a_diagnostic_on_several_corpora_needs_the_corpus(result):
    verdict = result.verdict("retrieval")
    other = replace(verdict, corpus="other")
    two = replace(result, verdicts=(*result.verdicts, other))
    with pytest.raises(SpecError, match="retrieval on handbook, retrieval on other"):
        two.rank("retrieval")
    with pytest.raises(SpecError, match="name one diagnostic and one corpus: "):
        two.rank("retrieval", "handbok")


@pytest.mark.parametrize("diagnostic", ["retrieval", "negated_antonyms"])
def test_a_plot_is_an_altair_chart(result, diagnostic):
    chart = result.plot(diagnostic)
    assert isinstance(chart, altair.TopLevelMixin)
    values = str(chart.to_dict())
    assert "hashing" in values
