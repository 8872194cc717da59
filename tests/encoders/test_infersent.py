"""InferSent with random weights against a naive LSTM, and what its files may be."""

from importlib.util import find_spec

import numpy as np
import pytest

from embassay.core.errors import EncoderError, SourceError, SpecError
from embassay.models.objects.infersent import cut
from embassay.run.resolve import load_encoder

pytestmark = [
    pytest.mark.skipif(find_spec("torch") is None, reason="the hf extra is not installed"),
    pytest.mark.skipif(find_spec("nltk") is None, reason="the words extra is not installed"),
]
DIM, HIDDEN = 3, 4
PREFIX = "enc_lstm."
NAMES = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
WORDS = ["<s>", "</s>", "the", "shop", "is", "n't", "open", "."]
TEXTS = ["the shop is open.", "shop", "the the isn't", "open shop is the shop ."]


@pytest.fixture(scope="module")
def state():
    draw = np.random.default_rng(0)
    shapes = {
        "weight_ih": (4 * HIDDEN, DIM),
        "weight_hh": (4 * HIDDEN, HIDDEN),
        "bias_ih": 4 * HIDDEN,
        "bias_hh": 4 * HIDDEN,
    }
    sides = ("", "_reverse")
    return {
        f"{PREFIX}{name}{side}": draw.standard_normal(shapes[name.removesuffix("_l0")])
        for name in NAMES
        for side in sides
    }


@pytest.fixture(scope="module")
def vectors():
    draw = np.random.default_rng(1)
    return {word: draw.standard_normal(DIM).astype(np.float32) for word in WORDS}


@pytest.fixture
def files(tmp_path, state, vectors):
    import torch

    torch.save({name: torch.tensor(value, dtype=torch.float32) for name, value in state.items()}, tmp_path / "w.pkl")
    lines = [f"{word} {' '.join(map(repr, map(float, row)))}" for word, row in vectors.items()]
    (tmp_path / "glove.txt").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


@pytest.fixture
def encoder(files):
    return load_encoder(f"infersent:{files / 'w.pkl'},vectors={files / 'glove.txt'}")


def naive(words, state, side):
    """Return the outputs of an LSTM in one direction, step by step (Hochreiter & Schmidhuber 1997)."""
    part = {name: state[f"{PREFIX}{name}{side}"] for name in NAMES}
    h, c, outputs = np.zeros(HIDDEN), np.zeros(HIDDEN), []
    for x in words:
        gates = part["weight_ih_l0"] @ x + part["bias_ih_l0"] + part["weight_hh_l0"] @ h + part["bias_hh_l0"]
        i, f, g, o = gates.reshape(4, HIDDEN)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        outputs.append(h)
    return np.array(outputs)


def expected(words, state, vectors):
    rows = [vectors[word] for word in ["<s>", *words, "</s>"] if word in vectors]
    forth, back = naive(rows, state, ""), naive(rows[::-1], state, "_reverse")
    return np.concatenate([forth.max(axis=0), back.max(axis=0)])


def test_a_vector_is_the_maximum_of_both_directions(encoder, state, vectors):
    words = [
        ["the", "shop", "is", "open", "."],
        ["shop"],
        ["the", "the", "is", "n't"],
        ["open", "shop", "is", "the", "shop", "."],
    ]
    wanted = [expected(w, state, vectors) for w in words]
    assert np.allclose(encoder.encode(TEXTS), wanted, atol=1e-6)


def test_padding_is_in_no_maximum(encoder):
    alone = encoder.encode(["shop"])[0]
    assert (alone < 0).any()  # else padding of zeros could not be told
    assert np.allclose(encoder.encode(TEXTS)[1], alone, atol=1e-6)


def test_a_text_without_a_known_word_is_a_zero_vector_and_counted(encoder):
    assert not encoder.encode(["Quark!", ""]).any()
    assert encoder.unknown_words(["the Quark", "Quark", ""]) == (2, 3, 2)


def test_words_are_cut_as_released():
    # What nltk's word_tokenize gives for these, by its documentation.
    assert cut("It isn't open. Go!") == ["It", "is", "n't", "open", ".", "Go", "!"]


def test_fingerprints_follow_both_files(encoder, files):
    again = f"infersent:{files / 'w.pkl'},vectors={files / 'glove.txt'}"
    assert load_encoder(again).fingerprint == encoder.fingerprint
    with (files / "glove.txt").open("a", encoding="utf-8") as file:
        file.write("\nmore 1 2 3")
    assert load_encoder(again).fingerprint != encoder.fingerprint


def test_what_is_missing_is_said(files):
    with pytest.raises(SpecError, match="set vectors=FILE"):
        load_encoder(f"infersent:{files / 'w.pkl'}")
    with pytest.raises(SourceError, match="no such file"):
        load_encoder(f"infersent:{files / 'none.pkl'},vectors={files / 'glove.txt'}")
    with pytest.raises(SourceError, match="glove"):
        load_encoder(f"infersent:{files / 'w.pkl'},vectors={files / 'no-glove.txt'}")


class Harm:
    def __reduce__(self):
        return print, ("harm",)


def test_a_file_that_would_run_something_is_refused(files, capsys):
    import torch

    torch.save({"enc_lstm.weight_ih_l0": Harm()}, files / "w.pkl")
    with pytest.raises(EncoderError, match="not the released weights of InferSent"):
        load_encoder(f"infersent:{files / 'w.pkl'},vectors={files / 'glove.txt'}").encode(["shop"])
    assert "harm" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.pop(f"{PREFIX}bias_hh_l0_reverse"),
        lambda s: s.update({f"{PREFIX}bias_hh_l0": s[f"{PREFIX}bias_hh_l0"][:3]}),
        lambda s: s.clear(),
    ],
)
def test_weights_of_something_else_are_refused(files, change):
    import torch

    weights = torch.load(files / "w.pkl", weights_only=True)
    change(weights)
    torch.save(weights, files / "w.pkl")
    with pytest.raises(EncoderError, match="not the released weights of InferSent"):
        load_encoder(f"infersent:{files / 'w.pkl'},vectors={files / 'glove.txt'}").encode(["shop"])


def test_word_vectors_of_another_length_are_refused(files):
    (files / "glove.txt").write_text("the 1 2\nshop 3 4\n", encoding="utf-8")
    with pytest.raises(EncoderError, match="trained with word vectors of 2 dimensions"):
        load_encoder(f"infersent:{files / 'w.pkl'},vectors={files / 'glove.txt'}").encode(["shop"])
