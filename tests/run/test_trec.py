"""Rankings in the format of TREC: ir-measures computes from them what the run has."""

import json
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.cli.app import exit_code_of
from embassay.run.outputs.kinds.trec import safe_id
from embassay.run.runs import results

ir_measures = pytest.importorskip("ir_measures")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run of 150 documents and 40 questions; ids have spaces, and one document has two questions."""
    top = tmp_path_factory.mktemp("trec")
    folder = top / "my docs"
    folder.mkdir()
    generator = np.random.default_rng(0)
    words = [f"w{n}" for n in range(60)]
    texts = [" ".join(generator.choice(words, 12)) for _ in range(150)]
    for number, text in enumerate(texts):
        (folder / f"doc {number} 100%.txt").write_text(text, encoding="utf-8")
    lines = []
    for number in range(40):
        right = [f"doc {number} 100%", f"doc {number + 100} 100%"][: 1 + number % 2]
        asked = " ".join(texts[number].split()[:6])
        lines.append(json.dumps({"question": f"{asked} q{number}", "document": right}))
    questions = top / "questions.jsonl"
    questions.write_text("\n".join(lines), encoding="utf-8")
    out = top / "run"
    source = f"my corpus={folder},questions={questions}"
    arguments = ["run", "-c", source, "-e", "random,dim=16", "-e", "tfidf", "-d", "retrieval"]
    assert exit_code_of([*arguments, "--resamples", "20", "--no-cache", "-o", str(out)]) == 0
    assert exit_code_of(["report", str(out), "--format", "trec"]) == 0
    return out


@pytest.mark.parametrize("encoder", ["tfidf", "random"])
def test_ir_measures_computes_the_figures_of_the_run(run, encoder):
    from ir_measures import AP, RR, R, Success, nDCG

    measures = [RR, Success @ 5, nDCG @ 10]
    if encoder == "random":
        # Documents without a common word are equally far by tfidf: TREC tools order these by id.
        measures += [AP, R @ 5]
    qrels = list(ir_measures.read_trec_qrels(str(run / "trec" / "my-corpus.qrels")))
    ranking = list(ir_measures.read_trec_run(str(run / "trec" / f"my-corpus-{encoder}.run")))
    computed = ir_measures.calc_aggregate(measures, qrels, ranking)
    result = results.read(run / "result.json")
    for measure, value in computed.items():
        (row,) = [
            row
            for row in result.rows
            if (row.encoder, row.metric, row.subset, row.condition) == (encoder, str(measure), "all", "")
        ]
        assert row.value == pytest.approx(value, abs=1e-6), measure


def test_ids_are_encoded_and_questions_reach_their_right_documents(run):
    qrels = list(ir_measures.read_trec_qrels(str(run / "trec" / "my-corpus.qrels")))
    assert {unquote(qrel.doc_id) for qrel in qrels} >= {"doc 0 100%", "doc 101 100%", "doc 1 100%"}
    ranking = {}
    for line in (run / "trec" / "my-corpus-random.run").read_text(encoding="utf-8").splitlines():
        question, _, document, place, _, _ = line.split(" ")
        ranking.setdefault(question, []).append(document)
        assert int(place) == len(ranking[question])
    assert all(len(documents) == 150 for documents in ranking.values())
    assert all(qrel.doc_id in ranking[qrel.query_id] for qrel in qrels)


@given(st.text(min_size=1))
def test_an_id_is_one_word_and_can_be_decoded(name):
    safe = safe_id(name)
    assert safe.split() == [safe]
    assert unquote(safe, errors="surrogatepass") == name or "\\ud" in ascii(name)
