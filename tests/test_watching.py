"""The evaluator: its names and directions, and a real training run of a tiny random model that is watched."""

import pytest

import embassay as ea
from embassay.cli.evaluator import evaluator
from embassay.run.resolve import load_corpus

pytest.importorskip("sentence_transformers", reason="the hf extra is not installed")


class CardData:
    """Keeps what a trainer's model card is told."""

    def __init__(self):
        self.told = []

    def set_evaluation_metrics(self, *given):
        self.told.append(given[1:])


class Bag:
    """Stands for a live model: hashed bags of words, and what it was asked for."""

    similarity_fn_name = "cosine"

    def __init__(self):
        self.model_card_data, self.asked = CardData(), set()

    def encode(self, texts, **given):
        return self._rows("text", texts, given)

    def encode_query(self, texts, **given):
        return self._rows("query", texts, given)

    def encode_document(self, texts, **given):
        return self._rows("document", texts, given)

    def _rows(self, role, texts, given):
        self.asked.add(role)
        return ea.encoder("hashing,dim=64").encode(texts, role=role)


@pytest.mark.parametrize(
    ("corpus", "diagnostic", "metric", "primary", "greater"),
    [
        ("handbook", "retrieval", "", "handbook_retrieval_Success@5", True),
        ("handbook", "retrieval,k=3", "", "handbook_retrieval_Success@3", True),
        ("handbook", "retrieval", "RR", "handbook_retrieval_RR", True),
        ("opposites", "negated_antonyms", "", "opposites_negated_antonyms_accuracy", True),
        ("opposites", "negated_antonyms", "chosen_polarity", "opposites_negated_antonyms_chosen_polarity", False),
        ("edits", "minimal_pairs", "", "edits_minimal_pairs_contrast_synonym-negation_main", True),
        ("vignettes", "composition", "", "vignettes_composition_share_c1_TT_excess_eps0", True),
        ("edits", "isotropy", "", None, True),
    ],
)
def test_names_and_directions(corpus, diagnostic, metric, primary, greater):
    watching = evaluator(corpus, diagnostic, metric)
    assert (watching.primary_metric, watching.greater_is_better) == (primary, greater)


def test_its_figures_are_those_of_an_assay():
    model, watching = Bag(), ea.evaluator("handbook", "retrieval", name="mine")
    found = watching(model, epoch=1, steps=20)
    result = ea.assay(["hashing,dim=64"], "handbook", ["retrieval"], baselines=False, cache=None)
    rows = {row.metric: row.value for row in result.rows if (row.subset, row.condition) == ("all", "")}
    assert found["mine_retrieval_Success@5"] == rows["Success@5"]
    assert found["mine_retrieval_RR"] == rows["RR"]
    assert watching.primary_metric in found
    assert model.asked == {"query", "document"}
    assert model.model_card_data.told == [(found, 1, 20)]


@pytest.mark.slow
def test_it_watches_a_real_training(tmp_path, tiny_model):
    pytest.importorskip("accelerate", reason="the train extra is not installed")
    datasets = pytest.importorskip("datasets", reason="the train extra is not installed")
    import sentence_transformers as st
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    model = st.SentenceTransformer(str(tiny_model), device="cpu")
    corpus = load_corpus("handbook")
    asked = [sample for sample in corpus.samples if sample.right][:16]
    rows = {
        "anchor": [sample.question for sample in asked],
        "positive": [corpus.passage(f"{sample.right[0]}#0") for sample in asked],
    }
    watching = evaluator(corpus, "retrieval")
    trainer = st.SentenceTransformerTrainer(
        model=model,
        args=st.SentenceTransformerTrainingArguments(
            str(tmp_path / "run"),
            num_train_epochs=2,
            per_device_train_batch_size=8,
            eval_strategy="epoch",
            save_strategy="epoch",
            load_best_model_at_end=True,
            metric_for_best_model=f"eval_{watching.primary_metric}",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=datasets.Dataset.from_dict(rows),
        loss=MultipleNegativesRankingLoss(model),
        evaluator=watching,
    )
    trainer.train()
    seen = [entry for entry in trainer.state.log_history if f"eval_{watching.primary_metric}" in entry]
    assert len(seen) == 2
    assert trainer.state.best_metric == max(entry[f"eval_{watching.primary_metric}"] for entry in seen)
    own = ea.assay([model], corpus, ["retrieval"], baselines=False, cache=None)
    row = next(r for r in own.rows if (r.metric, r.subset, r.condition) == ("Success@5", "all", ""))
    assert watching(model)[watching.primary_metric] == row.value


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    """The folder of a tiny model with random weights, its words those of the built-in handbook."""
    import sentence_transformers as st
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    words = sorted({word for _, text in load_corpus("handbook").texts() for word in text.lower().split()})
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    with torch.random.fork_rng():
        model = BertModel(BertConfig(vocab_size=len(words) + 5, max_position_embeddings=64, **sizes))
    model.save_pretrained(folder / "hf")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "hf")
    st.SentenceTransformer(str(folder / "hf"), device="cpu").save_pretrained(str(folder / "model"))
    return folder / "model"
