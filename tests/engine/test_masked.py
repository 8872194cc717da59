"""A tiny masked language model, made here: what it would put between two texts."""

import pytest

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


def test_the_vocabulary_is_read_once(folder, monkeypatch):
    masked = Masked(folder, "tiny")
    monkeypatch.setattr(type(masked._tokenizer), "get_vocab", None)
    assert masked.fills("the ", " sleeps.")[0] == "cat"
