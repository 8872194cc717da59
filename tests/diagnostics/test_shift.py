"""Shift: distances by hand and by a double loop, two corpora side by side."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from embassay.api import assay
from embassay.core.errors import SpecError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus, Draws, Origin
from embassay.core.vectors import Vectors
from embassay.diagnostics import shift
from embassay.diagnostics.shift import Shift, create
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.search.exact import top as topk
from tables import Table, rows

ASKED = "shift,domain=dom,general=gen"


def retrieval(name, documents, questions=0, passages=1):
    """A corpus of documents, and of questions each to a document of its own."""
    held = [Document(f"{n}", tuple(f"{name} passage {n}.{m}" for m in range(passages))) for n in range(documents)]
    asked = [Question(f"q{n}", f"{name} question {n}", (f"{n}",), units=(f"{n}",)) for n in range(questions)]
    return Corpus(name, "retrieval", tuple(asked), documents=tuple(held), licence=f"{name}'s")


def at(degrees, length=1.0):
    return length * np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])


def chord(degrees):
    """The distance of two points of the unit circle."""
    return 2 * math.sin(math.radians(degrees) / 2)


def gaussian(*corpora, seed=0, width=6, shift=None):
    """Random vectors of all texts, those of some corpora moved."""
    rng = np.random.default_rng(seed)
    moved = {c.name: (shift or {}).get(c.name, 0.0) for c in corpora}
    return {t: np.float32(rng.normal(size=width) + moved[c.name]) for c in corpora for _, t in c.texts()}


def scored(domain, general, vectors, search=topk.search, matrix=np.array):
    joined = create(domain="dom", general="gen").join(domain, general)
    texts = joined.texts()
    held = Vectors(matrix([vectors[t] for _, t in texts]), {t: i for i, t in enumerate(texts)}, search=search)
    return joined, Shift().score(joined, held, Origin("shift", "", joined.name, joined.fingerprint, "t", "t"))


def distances(domain, general, vectors, **options):
    """The distance of every text, by the text."""
    joined, found = scored(domain, general, vectors, **options)
    return {m.text: d for m, d in zip(joined.samples, found.values["distance"].tolist(), strict=True)}, found


def run(encoders, *corpora, **options):
    options = {"baselines": False, "resamples": 100, "cache": None, **options}
    return assay(encoders, list(corpora), [ASKED], **options)


# --- by hand ---------------------------------------------------------------------------------------------


def test_rows_are_means_and_means_over_the_ruler():
    vectors = {f"gen passage {n}.0": at(a) for n, a in enumerate((0, 40, 100))}
    vectors |= {"dom passage 0.0": at(10), "dom passage 1.0": at(130)}
    found = rows(run([Table("t", vectors)], retrieval("dom", 2), retrieval("gen", 3)))
    ruler = (chord(40) + chord(100) + chord(60)) / 3
    domain, general = (chord(10) + chord(30)) / 2, (2 * chord(40) + chord(60)) / 3
    assert {c: r.value for (q, _, c), r in found.items() if q == "distance"} == pytest.approx(
        {"": domain, "relative": domain / ruler, "general": general, "general relative": general / ruler}, rel=1e-6
    )
    assert {(r.items, r.units) for (q, _, c), r in found.items() if c in ("", "relative")} == {(2, 2)}
    assert {(r.items, r.units) for (q, _, c), r in found.items() if c.startswith("general")} == {(3, 3)}
    assert {s for _, s, _ in found} == {"documents"}


def test_a_text_of_both_corpora_has_no_distance():
    domain, general = retrieval("dom", 2), retrieval("gen", 4)
    shared = replace(domain, documents=(domain.documents[0], Document("x", ("gen passage 3.0",))))
    found, _ = distances(shared, general, gaussian(domain, general))
    assert found["dom passage 0.0"] > 0
    _, scores = scored(shared, general, gaussian(domain, general))
    assert scores.values["distance"][1] == 0


def test_zero_vectors_are_undefined_and_found_by_nobody():
    domain, general = retrieval("dom", 12), retrieval("gen", 12)
    vectors = gaussian(domain, general) | {"dom passage 0.0": np.zeros(6), "gen passage 0.0": np.zeros(6)}
    found, scores = distances(domain, general, vectors)
    assert math.isnan(found["dom passage 0.0"])
    assert math.isnan(found["gen passage 0.0"])
    assert np.isnan(scores.values["distance"]).sum() == 2
    row = rows(run([Table("t", vectors)], domain, general))
    for condition in ("", "relative", "general", "general relative"):
        own = row["distance", "documents", condition]
        assert (own.items, own.undefined) == (11, 1)
    assert (row["overlap", "documents", ""].items, row["overlap", "documents", ""].undefined) == (11, 1)


# --- against a double loop -------------------------------------------------------------------------------


def naive(own, others, units=None):
    """The distance to the nearest of the others, one by one; with units, to the nearest of another unit."""
    unit = [[v / np.linalg.norm(v) for v in side] for side in (own, others)]
    return [
        min(math.dist(a, b) for j, b in enumerate(unit[1]) if units is None or units[i] != units[j])
        for i, a in enumerate(unit[0])
    ]


@pytest.mark.parametrize("sparse", [False, True])
@settings(max_examples=20, deadline=None)
@given(st.integers(1, 8), st.integers(2, 9), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_distances_equal_a_double_loop(sparse, number, others, passages, seed):
    domain, general = retrieval("dom", number, 1, passages), retrieval("gen", others, 2, passages)
    vectors = {t: v.astype(np.float64) for t, v in gaussian(domain, general, seed=seed).items()}
    matrix = (lambda held: csr_array(np.array(held))) if sparse else np.array
    found, scores = distances(domain, general, vectors, matrix=matrix)
    for kind in ("passage", "question"):
        own, rest = ([t for t in vectors if t.startswith(f"{side} {kind}")] for side in ("dom", "gen"))
        a, b = ([vectors[t] for t in texts] for texts in (own, rest))
        assert [found[t] for t in own] == pytest.approx(naive(a, b), abs=1e-7)
        documents = [t.split()[2].split(".")[0] for t in rest]
        assert [found[t] for t in rest] == pytest.approx(naive(b, b, documents), abs=1e-7)
        unit = [v / np.linalg.norm(v) for v in b]
        pairs = [math.dist(x, y) for i, x in enumerate(unit) for y in unit[:i]]
        ruler = scores.scalars[f"ruler/{'documents' if kind == 'passage' else 'queries'}"]
        assert ruler == pytest.approx(np.mean(pairs), abs=1e-7)


def test_of_many_general_texts_some_are_looked_up_and_some_pairs_measured(monkeypatch):
    domain, general = retrieval("dom", 12), retrieval("gen", 60)
    vectors = gaussian(domain, general)
    whole, before = distances(domain, general, vectors)
    monkeypatch.setattr(shift, "NEIGHBOURS", 15)
    monkeypatch.setattr(shift, "PAIRS", 400)
    found, after = distances(domain, general, vectors)
    looked_up = {t: d for t, d in found.items() if t.startswith("gen") and not math.isnan(d)}
    assert len(looked_up) == 15
    assert looked_up == {t: whole[t] for t in looked_up}, "against all the others"
    assert {t: d for t, d in found.items() if t.startswith("dom")} == {
        t: d for t, d in whole.items() if t.startswith("dom")
    }
    one, other = (s.scalars["ruler/documents"] for s in (before, after))
    assert one != other
    assert one == pytest.approx(other, rel=0.1)
    general_row = rows(Shift().summarise([after], Draws(0, 50)))["distance", "documents", "general"]
    assert (general_row.items, general_row.undefined) == (15, 0)


# --- overlap ---------------------------------------------------------------------------------------------


def test_overlap_is_near_one_where_the_domain_is_nothing_special_and_none_where_it_lies_apart():
    domain, general = retrieval("dom", 300), retrieval("gen", 300)
    near = rows(run([Table("t", gaussian(domain, general))], domain, general))["overlap", "documents", ""]
    assert near.value > 0.85
    assert (near.low, near.high, near.items, near.reason) == (None, None, 300, None)
    # Both narrow, about opposite poles.
    apart = {
        t: v * 0.01 + np.eye(6)[0] * (1 if t.startswith("gen") else -1) for t, v in gaussian(domain, general).items()
    }
    far = rows(run([Table("t", apart)], domain, general))
    assert far["overlap", "documents", ""].value < 0.001
    assert far["distance", "documents", ""].value == pytest.approx(2, abs=0.01)
    assert far["distance", "documents", "relative"].value > 50


def test_general_passages_of_a_single_document_are_refused():
    domain = retrieval("dom", 12)
    with pytest.raises(SpecError, match="the general corpus has two units"):
        create(domain="dom", general="gen").join(domain, retrieval("gen", 1, passages=9))


# --- the plan --------------------------------------------------------------------------------------------


def prepared(diagnostics, *corpora):
    return prepare(RunRequest(["random"], list(corpora), diagnostics, baselines=False))


def test_a_general_corpus_of_one_text_is_refused():
    with pytest.raises(SpecError, match="'gen'"):
        prepared([ASKED], retrieval("dom", 12), retrieval("gen", 1))
