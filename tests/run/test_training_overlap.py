"""Notes on models that were trained on a corpus: only where the model card says it and the corpus is known."""

from dataclasses import dataclass, replace

import pytest

from embassay.core.samples.pairs import Pair
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.models.lexical.hashing import HashingEncoder
from embassay.models.neural.model_card import training_datasets
from embassay.run.candidates import RunEncoder
from embassay.run.training_overlap import FAMILIES, named_datasets, overlaps, recognised_by

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


@dataclass(frozen=True)
class Trained(HashingEncoder):
    datasets: tuple[str, ...] = ()

    def training_datasets(self):
        return self.datasets


def family(title):
    return next(family for family in FAMILIES if family.title == title)


def squad(name="x", prefix="56be"):
    questions = [Question(f"{prefix}{number:020x}", f"question {number}", ("d",)) for number in range(3)]
    return Corpus(name, "retrieval", tuple(questions), documents=(Document("d", ("text",)),), loader="squad")


def test_a_card_names_data_in_its_front_matter_and_below_training_data(tmp_path):
    assert training_datasets(tmp_path) == ()
    (tmp_path / "README.md").write_text(CARD, encoding="utf-8")
    names = ("ms_marco", "sentence-transformers/natural-questions", "SQuAD2.0", "Quora")
    assert training_datasets(tmp_path) == names


@pytest.mark.parametrize(
    "card",
    [
        "",
        "---\ndatasets: [",
        "---\ndatasets:\n  a: b\n---\n",
        "---\n- x\n---\n",
        "---\ndatasets: {a: 1}\n---",
        "\ud800",
    ],
)
def test_a_damaged_card_names_nothing(tmp_path, card):
    (tmp_path / "README.md").write_bytes(card.encode("utf-8", "surrogatepass"))
    assert training_datasets(tmp_path) == ()


def test_one_name_in_the_front_matter_is_a_list_of_one(tmp_path):
    (tmp_path / "README.md").write_text("---\ndatasets: squad\n---\n")
    assert training_datasets(tmp_path) == ("squad",)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("SQuAD", "rajpurkar/squad_v2"),
        ("SQuAD", "SQuAD2.0"),
        ("MS MARCO", "sentence-transformers/msmarco-bm25"),
        ("MS MARCO", "MS MARCO triplets"),
        ("Natural Questions", "NQ"),
        ("MSRP (MRPC)", "glue/mrpc"),
        ("SNLI and MultiNLI", "sentence-transformers/all-nli"),
        ("STS benchmark", "mteb/stsbenchmark-sts"),
        ("Quora question pairs", "embedding-data/QQP"),
    ],
)
def test_a_data_set_has_several_names(title, name):
    assert named_datasets(family(title), RunEncoder("m", Trained(dim=8, datasets=(name,)))) == [name]


@pytest.mark.parametrize("name", ["squad_kor_v1", "squadshifts", "glue", "feverish/other", "natural"])
def test_other_data_sets_are_not_taken_for_known_ones(name):
    entry = RunEncoder("m", Trained(dim=8, datasets=(name,)))
    assert not [family for family in FAMILIES if named_datasets(family, entry)]


def test_a_corpus_is_recognised_by_its_ids_and_not_by_its_label():
    assert recognised_by(family("SQuAD"), squad()) == "by the ids of its items"
    assert recognised_by(family("SQuAD"), replace(squad("squad", prefix="zz"), file="mine.json")) == ""
    assert recognised_by(family("SQuAD"), replace(squad(prefix="zz"), file="/data/XQuAD.en.json")) == (
        "by the name of its file, XQuAD.en.json"
    )
    without_items = Corpus("x", "retrieval", (), (Document("1", ("a",)),))
    assert recognised_by(family("SQuAD"), without_items) == ""


def test_a_folder_is_recognised_by_its_name(tmp_path):
    folder = tmp_path / "quora"
    folder.mkdir()
    corpus = Corpus("x", "pairs", (Pair("1", "a", "b", None),), file=str(folder))
    assert recognised_by(family("Quora question pairs"), corpus) == "by the name of its file, quora"


def test_the_note_says_what_the_card_names_and_how_the_corpus_is_known():
    entries = [
        RunEncoder("m", Trained(dim=8, datasets=("SQuAD2.0", "ms_marco"))),
        RunEncoder("bow", HashingEncoder(dim=8)),
    ]
    (note,) = overlaps(entries, [squad("mine")])
    assert note == (
        "m: its model card names SQuAD2.0 among its training data, and mine is from SQuAD (by the ids of its items); "
        "if these texts were in its training, its figures there are too high"
    )


def test_each_family_is_known_by_something():
    for known in FAMILIES:
        assert known.datasets
        assert known.files or known.loaders or known.fingerprints or known.item_ids
        assert all(pattern == pattern.lower() for pattern in (*known.datasets, *known.files))
