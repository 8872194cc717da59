"""Fine-tuning of a tiny random BERT: what it learns, which weights it keeps, how it goes on."""

import json

import numpy as np
import pytest

from embassay.core.errors import InputError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Card, Corpus
from embassay.training import finetuning, trainer
from embassay.training.finetuning import finetune, success
from embassay.training.negatives import Triplet
from embassay.training.options import FinetuneOptions

pytestmark = pytest.mark.slow


def record(folder):
    return json.loads((folder / "training.json").read_text())


@pytest.fixture
def fine(tiny, base, domain, monkeypatch):
    """Fine-tune the base on the domain."""

    def train(folder, advance=lambda done, total: None, dev=None, triplets=None, checkpoints=3, **changes):
        corpus, own, held_out = domain
        monkeypatch.setattr(trainer, "CHECKPOINTS", checkpoints)
        stage = tiny.finetuning(folder, **{"epochs": 1, **changes})
        mined = tuple(own if triplets is None else triplets)
        return finetune(stage, base, mined, held_out if dev is None else dev, corpus, advance=advance)

    return train


@pytest.mark.slow
def test_questions_that_are_learnt_from_are_answered_better(fine, base, domain, tmp_path):
    from embassay.training.base_model import find_base

    corpus, triplets, _ = domain
    trained = fine(tmp_path / "out", epochs=6, checkpoints=1, rate=3e-3, dev=corpus.samples[:30])
    facts = record(tmp_path / "out")
    (_, before), *later = facts["evaluations"]
    assert before == pytest.approx(success(find_base(base), corpus.samples[:30], corpus))
    assert facts["best"][1] == max(score for _, score in later) > before + 0.1
    assert success(find_base(trained.spec), corpus.samples[:30], corpus) == pytest.approx(facts["best"][1])
    assert trained.notes[0].startswith(f"Success@5 of the held-out questions: {before:.3f} before training, ")
    text = (tmp_path / "out" / "training.json").read_text()
    assert triplets[0].question not in text
    assert not (tmp_path / "out" / "README.md").exists()


def test_without_held_out_questions_the_last_weights_are_kept(fine, tmp_path):
    trained = fine(tmp_path / "out", dev=())
    assert trained.notes == ()
    assert record(tmp_path / "out")["evaluations"] == []


def test_products_of_unit_vectors_are_scaled_as_the_cosines_that_they_are(tiny, base):
    from sentence_transformers import SentenceTransformer

    from embassay.training.base_model import find_base, load
    from embassay.training.finetuning import ranking_loss

    model = load(find_base(base), "cpu")
    long = SentenceTransformer(modules=list(model)[:-1], device="cpu")
    scales = [ranking_loss(m, s).scale for m in (model, long) for s in ("cosine", "dot")]
    assert scales == [20, 20, 20, 1]


def test_prompts_stand_before_questions_only(tiny, base):
    from embassay.training.base_model import find_base, load

    encoder = find_base(base)
    model = load(encoder, "cpu")
    triplets = [Triplet("what leaks", "the pump leaks", ("the tank leaks", "it")), Triplet("it", "the", ("of",))]
    job = finetuning._job(FinetuneOptions(), encoder, model, triplets)
    batch = job.collate((0, 1), np.random.default_rng(0))
    decoded = {n: model.tokenizer.batch_decode(v, skip_special_tokens=True) for n, v in batch.items() if "ids" in n}
    decoded = {name: texts for name, texts in decoded.items() if name.endswith("_input_ids")}
    assert decoded == {
        "question_input_ids": ["query : what leaks", "query : it"],
        "right_input_ids": ["the pump leaks", "the"],
        "wrong0_input_ids": ["the tank leaks", "of"],
    }


class Given:
    """An encoder of given vectors."""

    name = fingerprint = "given"
    card = Card("given")

    def __init__(self, vectors):
        self.vectors = vectors

    def encode(self, texts, role="text"):
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)


def test_success_by_hand():
    """Ranks 1 and 6, one of two right ones at rank 2, and a tie of six for the places 1 to 6."""
    angles = {"d0": 0, "d1": 10, "d2": 20, "d3": 30, "d4": 40, "d5": 50}
    vectors = {name: (np.cos(np.radians(a)), np.sin(np.radians(a))) for name, a in angles.items()}
    documents = tuple(Document(name, (name,)) for name in angles)
    questions = [Question("a", "a", ("d0",)), Question("b", "b", ("d5",)), Question("c", "c", ("d1", "d5"))]
    vectors |= dict.fromkeys("abc", (1.0, 0.0))
    corpus = Corpus("c", "retrieval", tuple(questions), documents=documents)
    assert success(Given(vectors), questions, corpus) == pytest.approx(2 / 3)
    tied = Given({**dict.fromkeys(angles, (1.0, 0.0)), **dict.fromkeys("abc", (1.0, 0.0))})
    assert success(tied, questions[:1], corpus) == pytest.approx(5 / 6)


def test_what_cannot_be_learnt_from_is_refused_before_any_training(fine, tmp_path):
    with pytest.raises(InputError, match="two questions, or one with a wrong document"):
        fine(tmp_path / "out", triplets=[Triplet("q", "r", ())])
    assert not (tmp_path / "out").exists()


def test_what_is_right_for_one_question_is_no_candidate_of_another():
    """Two questions on one document of two passages; a right text in other letters; a question in two forms."""
    from embassay.training.batches import draw

    triplets = [
        Triplet("who opens it", "the mate", ("a sail",), ("the mate", "the cook")),
        Triplet("who shuts it", "the cook", ("a mast",), ("the mate", "the cook")),
        Triplet("when", "at noon", ("The MATE.",)),
        Triplet("where", "on deck", ("a pump",)),
        Triplet("Where?", "below", ("a rope",)),
    ]
    rows = finetuning.candidate_rows(triplets)
    apart = [{0, 1}, {0, 2}, {1, 2}, {3, 4}]
    for seed in range(20):
        for batch in draw(rows, 5, 1, seed):
            assert not [pair for pair in apart if pair <= set(batch)]
