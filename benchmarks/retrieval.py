"""The bootstrap of Roychowdhury et al. (2024) at the size of their corpus, as they write it and ours; and fusion.

    python benchmarks/retrieval.py

5,257 documents, 5,167 questions, 384 numbers, 500 samples of 100 questions, 19 percentiles ψ. As written, each sample
has a similarity matrix of its own, from which the top 5, the accuracy, COE, ROE and the thresholds follow. Ours works
out what is needed of each question once; a sample is an index into it. Both draw the same samples and must give the
same figures.

Fusion: 1,000 questions, 100,000 documents, the lists of both parts at hand; until the ranks of the right documents are
known. With ``weight=auto``, 21 weights are tried.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from _machine import describe

from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus, Draws, Runtime
from embassay.run.retrieve import choose
from embassay.search.exact.lists import checked, joined, ranked
from embassay.search.exact.top import search
from embassay.search.retrievers.base import Lists, Questions
from embassay.search.retrievers.hybrid import create
from embassay.stats.exams import GRID, Answers, above, exams, minima, percentile_of_top
from embassay.stats.geometry.closeness import paired_cosine

DOCUMENTS, QUESTIONS, WIDTH, K = 5257, 5167, 384, 5
ROUNDS = 5
FUSED_QUESTIONS, FUSED_DOCUMENTS, DEPTH = 1000, 100_000, 100


def world():
    """Return unit vectors of documents and questions, the right document of each question and a random one."""
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(DOCUMENTS, WIDTH))
    right = rng.integers(0, DOCUMENTS, QUESTIONS)
    questions = documents[right] + 3.2 * rng.normal(size=(QUESTIONS, WIDTH))
    unit = [(v / np.linalg.norm(v, axis=1, keepdims=True)).astype(np.float32) for v in (documents, questions)]
    return *unit, right, rng.integers(0, DOCUMENTS, QUESTIONS)


def literal(documents, questions, right, random, drawn):
    """Sections 2.1-2.3 as written."""
    s_corr, s_rand = ((questions * documents[of]).sum(1) for of in (right, random))
    accuracy, coe, roe, gamma = [], [], [], []
    for sample in drawn:
        matrix = questions[sample] @ documents.T
        nearest = np.argsort(-matrix, axis=1)[:, :K]
        top = np.take_along_axis(matrix, nearest, axis=1)
        accuracy.append((nearest == right[sample, None]).any(axis=1).mean())
        theta = np.percentile(top, GRID)
        coe.append([(s_corr > t).mean() for t in theta])
        roe.append([(s_rand > t).mean() for t in theta])
        gamma.append(top.min())
    return np.array(accuracy), np.array(coe), np.array(roe), np.array(gamma)


def ours(documents, questions, right, random, drawn):
    """Top 5, right and random similarity of each question once; samples are indices."""
    pairs = np.stack([np.arange(QUESTIONS), right], axis=1)
    found = search(questions, documents, k=K, similarity_function="cosine", pairs=pairs)
    success = np.clip((K - found.greater) / found.tied, 0, 1)
    answers = Answers(found.similarity, found.own, success)
    start = time.perf_counter()
    s_rand = paired_cosine(questions, documents[random])
    theta = percentile_of_top(answers.top, drawn, GRID)
    figures = answers.success[drawn].mean(axis=1), above(answers.own, theta), above(s_rand, theta)
    gamma = minima(answers.top, drawn)
    return (*figures, gamma), time.perf_counter() - start


def fusion():
    """Return the seconds of a fusion with a fixed weight, and of one with a weight that is chosen."""
    rng = np.random.default_rng(1)
    documents = tuple(Document(f"d{number}", (f"text {number}",)) for number in range(FUSED_DOCUMENTS))
    right = rng.integers(0, FUSED_DOCUMENTS, FUSED_QUESTIONS).tolist()
    samples = tuple(Question(f"q{row}", f"question {row}", (f"d{place}",)) for row, place in enumerate(right))
    corpus = Corpus("fused", "retrieval", samples, documents=documents)
    parts = {}
    for name in "ab":
        places = np.stack([rng.choice(FUSED_DOCUMENTS, DEPTH, replace=False) for _ in samples])
        scores = -np.sort(-rng.random(places.shape), axis=1)
        parts[name] = Lists(np.arange(FUSED_QUESTIONS), places, scores, places)
    questions = Questions(corpus, samples, parts)
    start = time.perf_counter()
    retriever = create("a+b", Runtime())
    ranked(corpus, joined([checked(lists, questions, 0.0) for lists in retriever.retrieve(questions)]))
    fixed = time.perf_counter() - start
    start = time.perf_counter()
    choose(create("a+b", Runtime(), weight="auto"), questions)
    return fixed, time.perf_counter() - start


def main() -> None:
    """Time both and compare their figures; time fusion."""
    documents, questions, right, random = world()
    drawn = exams(QUESTIONS, Draws(), "benchmark")
    print(describe())
    start = time.perf_counter()
    reference = literal(documents, questions, right, random, drawn)
    slow = time.perf_counter() - start
    taken, inner = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        figures, part = ours(documents, questions, right, random, drawn)
        taken.append(time.perf_counter() - start)
        inner.append(part)
    far = [float(np.abs(a - b).max()) for a, b in zip(figures, reference, strict=True)]
    middle = statistics.median(taken)
    print(f"as the paper writes it {slow:8.2f} s (once)")
    print(f"ours                   {middle:8.3f} s [{min(taken):.3f}..{max(taken):.3f}], {slow / middle:.0f}×")
    print(f"  of which the 500 samples {statistics.median(inner):.3f} s; the rest is the search and every rank")
    fixed, chosen = fusion()
    print(f"fusion {fixed:.2f} s; of 21 weights {chosen:.1f} s")
    print(f"accuracy {reference[0].mean():.3f}; largest differences: {', '.join(f'{d:.1e}' for d in far)}")


if __name__ == "__main__":
    main()
