"""A tiny masked language model, made here: what it would put between two texts."""

import pytest

from embassay.core.errors import ModelNotFoundError
from embassay.testsets.masked_model import Masked

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "dog", "cat", "runs", "sleeps", "##ing", ".", "!", "7"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("mlm")
    (path / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    transformers.BertTokenizer(str(path / "vocab.txt")).save_pretrained(path)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.BertForMaskedLM(config)
    with torch.no_grad():  # cat first, then a word piece and marks, then the rest
        model.cls.predictions.decoder.weight.zero_()
        for rank, word in enumerate(["cat", "##ing", ".", "7", "dog", "runs"]):
            model.cls.predictions.bias[WORDS.index(word)] = 10 - rank
    model.save_pretrained(path)
    return path


def test_whole_words_come_the_likeliest_first(folder):
    found = Masked(folder, "tiny").fills("the ", " sleeps.")
    assert found[:3] == ("cat", "dog", "runs")
    assert set(found) == {"cat", "dog", "runs", "the", "sleeps"}


def test_a_model_without_its_head_is_refused(folder, tmp_path):
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).save_pretrained(tmp_path)
    with pytest.raises(ModelNotFoundError) as error:
        Masked(tmp_path, "tiny")
    assert "weights of its masked language model are missing (first: cls.predictions.bias)" in str(error.value)


def test_the_vocabulary_is_read_once(folder, monkeypatch):
    masked = Masked(folder, "tiny")
    monkeypatch.setattr(type(masked._tokenizer), "get_vocab", None)
    assert masked.fills("the ", " sleeps.")[0] == "cat"


def test_a_damaged_model_is_named(tmp_path):
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelNotFoundError, match="cannot be read as a masked language model"):
        Masked(tmp_path, "tiny")
