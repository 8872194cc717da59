"""All metrics of a diagnostic on a corpus share resamples and patterns, so equal items have equal figures."""

import pytest

from embassay.api import assay
from embassay.core.samples.pairs import Pair
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.stats import patterns, resample


def questions():
    """Thirty questions, each about a word of one of twenty documents."""
    documents = tuple(Document(f"d{n}", (f"document {n} about subject {n} and matter {n % 3}",)) for n in range(20))
    samples = tuple(Question(f"q{n}", f"what of subject {n % 20}, case {n}", (f"d{n % 20}",)) for n in range(30))
    return Corpus("questions", "retrieval", samples, documents=documents)


def pairs():
    """Thirty pairs of sentences with scores, of two kinds."""
    samples = (Pair(f"{n}", f"sentence {n} of one", f"sentence {n % 7} of two", float(n % 5)) for n in range(30))
    return Corpus("pairs", "pairs", tuple(samples))


RUNS = {
    "similarity": (pairs(), ""),
    "negated_antonyms": ("opposites", "compare=all"),
    "minimal_pairs": ("edits", "compare=all"),
    "composition": ("vignettes", "compare=all"),
    "localization": ("paraphrases", "compare=all"),
    "retrieval": (questions(), "compare=all"),
}


def run(diagnostic):
    corpus, options = RUNS[diagnostic]
    encoders = ["a=hashing,dim=32", "b=hashing,dim=64"]
    return assay(
        encoders, [corpus], [",".join(filter(None, (diagnostic, options)))], resamples=50, cache=None, baselines=False
    )


@pytest.mark.parametrize("diagnostic", RUNS)
def test_streams_of_a_corpus_are_named_by_diagnostic_and_corpus_alone(diagnostic, monkeypatch):
    names = set()
    original = resample.generator

    def spy(seed, *purpose):
        names.add(purpose[1:])
        return original(seed, *purpose)

    monkeypatch.setattr(resample, "generator", spy)
    monkeypatch.setattr(patterns, "generator", spy)
    run(diagnostic)
    ((name, fingerprint),) = names
    assert name == diagnostic
    assert len(fingerprint) == 16
