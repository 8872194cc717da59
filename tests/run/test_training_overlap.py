"""Notes on models that were trained on a corpus: only where the model card says it and the corpus is known."""

from dataclasses import replace

from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.models.neural.model_card import training_datasets
from embassay.run.training_overlap import families, recognised_by

CARD = """---
license: mit
datasets:
- ms_marco
- sentence-transformers/natural-questions
- 12
---
# A model
## Evaluation
| Dataset | value |
|---|---|
| HotpotQA | 0.9 |
## Training data
Also evaluated on SICK.

| Dataset | Paper |
|---|:---:|
| [SQuAD2.0](https://x.example) (question, answer) | a |
| Quora: pairs | b |

| anchor | positive |
|---|---|
| Fever is a symptom | c |
"""


def family(title):
    return families()[title]


def squad(name="x", prefix="56be"):
    questions = [Question(f"{prefix}{number:020x}", f"question {number}", ("d",)) for number in range(3)]
    return Corpus(name, "retrieval", tuple(questions), documents=(Document("d", ("text",)),), loader="squad")


def test_a_card_names_data_in_its_front_matter_and_below_training_data(tmp_path):
    assert training_datasets(tmp_path) == ()
    (tmp_path / "README.md").write_text(CARD, encoding="utf-8")
    names = ("ms_marco", "sentence-transformers/natural-questions", "SQuAD2.0", "Quora")
    assert training_datasets(tmp_path) == names


def test_a_corpus_is_recognised_by_its_ids_and_not_by_its_label():
    assert recognised_by(family("SQuAD"), squad()) == "by its content"
    assert recognised_by(family("SQuAD"), replace(squad("squad", prefix="zz"), file="mine.json")) == ""
    assert recognised_by(family("SQuAD"), replace(squad(prefix="zz"), file="/data/XQuAD.en.json")) == (
        "by the name of its file, XQuAD.en.json"
    )
    without_items = Corpus("x", "retrieval", (), (Document("1", ("a",)),))
    assert recognised_by(family("SQuAD"), without_items) == ""


def test_each_family_is_known_by_something():
    for known in families().values():
        assert known["datasets"]
        assert known["files"]
        assert all(pattern == pattern.lower() for pattern in (*known["datasets"], *known["files"]))
