"""Model cards: the hub's own library reads them, and finds the figures of the run."""

from dataclasses import replace

import pytest

from embassay.api import assay
from embassay.core.samples.retrieval import Document, Question
from embassay.core.samples.shapes import Choice
from embassay.core.types import Corpus
from embassay.reports.layouts import layouts
from embassay.run.outputs.kinds.model_card import cards

hub = pytest.importorskip("huggingface_hub")
EVIL = "a: \"b\" 'c' #d\n- e: {f} 模型 🎈 \x1b \x7f |"


@pytest.fixture(scope="module")
def result():
    samples = [Choice(f"i{n}", f"a {n}", f"b {n}", f"c {n}", f"d {n}", "adjective", f"pair{n}") for n in range(12)]
    documents = [Document(f"d{n}", (f"text number {n}",)) for n in range(12)]
    questions = [Question(f"q{n}", f"which number {n}", (f"d{n}",)) for n in range(12)]
    corpora = [
        Corpus(EVIL, "choice", tuple(samples)),
        Corpus("asked", "retrieval", tuple(questions), documents=tuple(documents)),
    ]
    return assay(["bow", "hashing"], corpora, resamples=20, cache=None)


def test_the_hub_reads_the_figures_of_the_run(result):
    from huggingface_hub.repocard_data import model_index_to_eval_results

    texts = cards(result, layouts(result))
    assert set(texts) == {"bow", "hashing"}
    card = hub.ModelCard(texts["bow"])
    name, results = model_index_to_eval_results(card.data.to_dict()["model-index"])
    assert name == "bow"
    assert card.data.eval_results == results
    figures = {(r.dataset_name, r.metric_type): r for r in results}
    assert ("asked", "mrr") in figures
    for name, metric in (("success_at_5", "Success@5"), ("mrr", "RR"), ("ndcg_at_10", "nDCG@10")):
        (row,) = [r for r in result.rows if (r.encoder, r.metric, r.subset, r.condition) == ("bow", metric, "all", "")]
        found = figures["asked", name]
        assert found.metric_value == pytest.approx(row.value, abs=1e-6)
        assert found.metric_args["low"] == pytest.approx(row.low, abs=1e-6)
        assert found.metric_args["confidence"] == 0.95
        assert found.task_type == "information-retrieval"
    # The headline of each diagnostic comes first.
    assert results[0].dataset_name.startswith('a: "b"')
    assert results[0].metric_type == "accuracy"


def test_built_in_corpora_are_left_out(result):
    corpora = tuple(replace(corpus, builtin=True) for corpus in result.corpora)
    assert cards(replace(result, corpora=corpora), layouts(result)) == {}
