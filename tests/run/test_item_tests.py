"""What is tested on the items of a headline: who is not worse than the best, and which questions everyone misses."""

from dataclasses import replace

import numpy as np
import pytest

from embassay.corpora.queries.made import SOURCES
from embassay.metrics.item_metric import Headline
from embassay.result import Difference, Opponent, Verdict
from embassay.run.execute import execute
from embassay.run.item_tests import with_not_worse
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.samples.retrieval import Document, Question
from embassay.types import Corpus, Draws


def test_ranked_candidates_that_lose_less_than_the_margin_are_not_worse_also_outside_the_best_set():
    items = np.arange(1000)
    # The best is right on 900 items; "equal" loses 5 of these and gains 5, "unclear" loses 15, and "lower" loses 8,
    # which is significant and less than the margin. Of "left out" too much is undefined.
    best = (items < 900).astype(float)
    equal = ((items >= 5) & (items < 905)).astype(float)
    unclear = (items < 885).astype(float)
    lower = (items < 892).astype(float)
    values = {"best": best, "equal": equal, "unclear": unclear, "lower": lower, "left out": best}
    headline = Headline("Success@5", 0.02, values, items, ("stream",))
    verdict = Verdict(
        "retrieval", "docs", "Success@5", 1000, 1000,
        candidates=tuple(values), best_set=("best", "unclear", "equal"), left_out=("left out",),
    )  # fmt: skip
    tested = with_not_worse(verdict, headline, Draws())
    assert (tested.margin, tested.not_worse) == (0.02, ("equal", "lower"))
    highest = replace(verdict, leader="Highest")
    assert with_not_worse(highest, headline, Draws()) == highest


def test_settings_of_the_reference_s_model_are_tested_against_it_where_another_model_is_best():
    items = np.arange(1000)
    best = (items < 990).astype(float)
    reference = (items < 900).astype(float)
    equal = ((items >= 5) & (items < 905)).astype(float)
    worse = (items < 885).astype(float)
    values = {"n": best, "m,dim=384": reference, "m,dim=128": equal, "m,dim=8": worse}
    headline = Headline("Success@5", 0.02, values, items, ("stream",))
    differences = tuple(Difference(name) for name in values if name != "m,dim=384")
    verdict = Verdict(
        "retrieval", "docs", "Success@5", 1000, 1000, candidates=tuple(values), best_set=("n",),
        opponents=(Opponent("reference", "m,dim=384", differences),),
    )  # fmt: skip
    assert with_not_worse(verdict, headline, Draws()).not_worse_than_reference == ("m,dim=128",)
    of_best = replace(verdict, best_set=("m,dim=384",))
    assert with_not_worse(of_best, headline, Draws()).not_worse_than_reference == ()


def mislabelled(wrong, source=""):
    """40 documents, and a question about each; the labels of the first questions name a document without its words."""
    documents = []
    for n in range(40):
        # The first 20 documents share a word with all questions.
        shared = "alpha" if n < 20 else "beta"
        documents.append(Document(f"d{n}", (f"{shared} word{n}",)))
    samples = []
    for n in range(40):
        right = f"d{n + 20}" if n < wrong else f"d{n}"
        samples.append(Question(f"q{n}", f"alpha word{n} word{n}", (right,)))
    return Corpus("docs", "retrieval", tuple(samples), source=source, documents=tuple(documents))


def suspected(wrong, encoders=("bow",), source="", **options):
    request = RunRequest(
        list(encoders), [mislabelled(wrong, source)], ["retrieval"], resamples=50, quiet=True, **options
    )
    result = execute(prepare(request)).result
    return [
        finding.sentence.partition("; nobody finds ")[2] for finding in result.answers if finding.question == "Fails on"
    ]


def test_questions_that_everyone_misses_have_suspect_labels():
    assert suspected(5) == ["5: check their labels."]
    assert suspected(1) == ["1: check its label."]
    assert suspected(0) == []


def test_a_program_that_made_the_queries_has_no_wrong_labels():
    assert suspected(5, source=SOURCES["headings"]) == ["5."]


@pytest.mark.parametrize(
    ("wrong", "options", "says"),
    [
        # The first candidate is right on 60 % only: the questions may be hard.
        (16, {}, "16."),
        # A single encoder may be at fault itself, whatever its settings, and that it misses them is said already.
        (5, {"baselines": False}, ""),
        (5, {"baselines": False, "encoders": ("a=bow", "b=bow")}, ""),
    ],
)
def test_without_a_decent_candidate_and_a_second_witness_no_label_is_suspected(wrong, options, says):
    assert suspected(wrong, **options) == [says]
