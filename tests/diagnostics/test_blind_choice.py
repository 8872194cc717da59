"""The success of blind choice is that of the hypergeometric distribution."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.diagnostics.retrieval.scores import success_of_blind_choice


@pytest.mark.parametrize("k", [1, 5])
def test_it_is_the_mean_over_answered_questions(k):
    documents = [Document(f"d{n}", (f"text {n}",)) for n in range(40)]
    counts = [1, 1, 2, 7, 0, 38]
    questions = [
        Question(f"q{n}", f"question {n}", tuple(f"d{place}" for place in range(count)))
        for n, count in enumerate(counts)
    ]
    corpus = Corpus("some", "retrieval", questions, documents=documents)
    wanted = np.mean([1 - hypergeom(40, count, k).pmf(0) for count in counts if count])
    assert success_of_blind_choice(corpus, k) == pytest.approx(wanted, rel=1e-12)
