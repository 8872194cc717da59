"""Paragraph vectors: a trained folder, read back, and the vectors of new texts."""

import json
import shutil

import numpy as np
import pytest

pytest.importorskip("gensim", reason="the words extra is not installed")

from embassay.core.errors import EncoderError, SourceError
from embassay.core.randomness import generator
from embassay.models.static import paragraphs
from embassay.run.resolve import load_encoder
from embassay.training import gensim_training as trainer
from embassay.training.options import ParagraphsOptions
from embassay.training.stage import Stage

WORDS = ["boat", "baker", "judge", "nurse", "pilot", "gate", "song", "book", "wall", "old", "loud", "long", "small"]
SENTENCES = [f"The {' '.join(generator(n, 'toy').choice(WORDS, 12))}." for n in range(60)]
"""Words at random: the word beside one does not tell it, so the sentence's vector has to."""
DIM = 24


@pytest.fixture(scope="module", params=["dm", "dbow"])
def trained(request, tmp_path_factory):
    """A folder, and the arrays that the training ended with."""
    place = tmp_path_factory.mktemp(request.param)
    text = place / "text.txt"
    text.write_text("\n".join(SENTENCES), encoding="utf-8")
    last = {}
    keep = Stage.keep

    def remember(self, epochs, arrays):
        last.update({name: array.copy() for name, array in arrays.items()})
        keep(self, epochs, arrays)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stage, "keep", remember)
        options = ParagraphsOptions(model=request.param, dim=DIM, window=1, epochs=150)
        trainer.train(text, place / "model", options, advance=lambda done, total: None)
    return place / "model", last


@pytest.fixture
def copy(trained, tmp_path):
    """A copy of the folder, to be damaged."""
    return shutil.copytree(trained[0], tmp_path / "copy")


@pytest.fixture(scope="module")
def encoder(trained):
    return load_encoder(f"paragraphs:{trained[0]}")


def cosines(a, b):
    unit = [m / np.linalg.norm(m, axis=1, keepdims=True) for m in (a, b)]
    return unit[0] @ unit[1].T


def test_a_text_that_was_learnt_from_lies_nearest_to_its_own_vector(encoder, trained):
    own = trained[1]["paragraphs"]
    assert np.array_equal(cosines(encoder.encode(SENTENCES), own).argmax(axis=1), np.arange(len(SENTENCES)))


def test_inference_is_gensims_own(trained, monkeypatch):
    """The same beginning, rates and epochs in gensim's ``infer_vector`` give the same vector."""
    encoder = load_encoder(f"paragraphs:{trained[0]}")
    text, words = "The judge by the gate.", ["the", "judge", "by", "the", "gate", "."]
    start = (generator(0, "paragraph", text).random(DIM, np.float32) - np.float32(0.5)) / np.float32(DIM)
    monkeypatch.setattr("gensim.models.doc2vec.pseudorandom_weak_vector", lambda size, seed_string: start.copy())
    theirs = encoder.model.infer_vector(words, alpha=0.025, min_alpha=0.0001, epochs=200)
    monkeypatch.setattr(paragraphs, "MOVED", 0.0)
    ours = encoder.encode([text])[0]
    assert np.allclose(ours, theirs, atol=1e-6)
    assert np.linalg.norm(ours - start) > 0.1


@pytest.mark.parametrize("kind", ["dm", "dbow"])
def test_a_model_as_wide_as_the_papers_stays_within_its_memory(kind, tmp_path):
    # gensim's default working memory is freed while it writes there, which only wide models notice: they crash.
    text = tmp_path / "text.txt"
    text.write_text("\n".join(SENTENCES), encoding="utf-8")
    options = ParagraphsOptions(model=kind, dim=300, window=8, epochs=1)
    trainer.train(text, tmp_path / "model", options, advance=lambda done, total: None)
    first, second = (load_encoder(f"paragraphs:{tmp_path / 'model'}").encode(SENTENCES) for _ in range(2))
    assert np.isfinite(first).all()
    assert np.array_equal(first, second)


def test_the_softmax_tree_is_the_one_that_was_trained(trained):
    encoder = load_encoder(f"paragraphs:{trained[0]}")
    record = encoder.record
    counts = dict(zip(record.vocabulary, record.counts, strict=True))
    assert list(counts.values()) == sorted(counts.values(), reverse=True)
    assert counts["."] == counts["the"] == len(SENTENCES)
    # Huffman: the words' codes fill the tree, and the mean length is minimal.
    tree = encoder.model.wv.expandos["code"]
    assert sum(2.0 ** -len(code) for code in tree) == pytest.approx(1)
    null = [1] if record.settings.model == "dm" else []
    assert np.dot([len(code) for code in tree], [*counts.values(), *null]) == huffman([*counts.values(), *null])


def huffman(counts):
    """The length of a text in Huffman's code, worked out naively."""
    total = 0
    while len(counts) > 1:
        first, second, *rest = sorted(counts)
        total += first + second
        counts = [first + second, *rest]
    return total


def test_a_vector_depends_on_its_text_alone(encoder, trained):
    texts = [*SENTENCES[:3], "The nurse paints a boat."]
    together = encoder.encode(texts)
    again = load_encoder(f"paragraphs:{trained[0]}")
    assert np.array_equal(again.encode(texts[::-1])[::-1], together)
    assert np.array_equal(again.encode(texts[2:3])[0], together[2])
    assert encoder.fingerprint == again.fingerprint


def test_a_vector_comes_to_rest(trained, monkeypatch):
    """One more epoch at the rate of the last one moves it less than a thousandth."""
    encoder = load_encoder(f"paragraphs:{trained[0]}")
    resting = encoder.encode(["The pilot long book."])
    monkeypatch.setattr(paragraphs, "MOVED", 0.0)
    further = encoder.encode(["The pilot long book."])
    assert 0 < np.linalg.norm(further - resting) < 0.05 * np.linalg.norm(further)


def test_unknown_words_are_skipped_and_counted(encoder):
    texts = ["The zebra song.", "Zebra!", ""]
    assert encoder.unknown_words(texts) == (3, 6, 2)
    vectors = encoder.encode(texts)
    assert vectors[0].any()
    assert not vectors[1:].any()


def test_the_fingerprint_follows_the_content(encoder, copy):
    assert load_encoder(f"paragraphs:{copy}").fingerprint == encoder.fingerprint
    hidden = np.load(copy / "hidden.npy")
    hidden[0, 0] += 1
    np.save(copy / "hidden.npy", hidden)
    assert load_encoder(f"paragraphs:{copy}").fingerprint != encoder.fingerprint


def truncated(folder):
    content = (folder / "hidden.npy").read_bytes()
    (folder / "hidden.npy").write_bytes(content[:-100])


def infinite(folder):
    array = np.load(folder / "hidden.npy")
    array[1, 1] = np.inf
    np.save(folder / "hidden.npy", array)


def record(**changes):
    def change(folder):
        found = json.loads((folder / "paragraphs.json").read_bytes())
        (folder / "paragraphs.json").write_text(json.dumps({**found, **changes}))

    return change


def without(name):
    def change(folder):
        found = json.loads((folder / "paragraphs.json").read_bytes())
        del found["settings"][name]
        (folder / "paragraphs.json").write_text(json.dumps(found))

    return change


def words(changed):
    def change(folder):
        found = json.loads((folder / "paragraphs.json").read_bytes())
        pairs = [changed(*pair) for pair in zip(found["vocabulary"], found["counts"], strict=True)]
        record(vocabulary=[word for word, _ in pairs], counts=[count for _, count in pairs])(folder)

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncated, "hidden.npy: damaged"),
        (infinite, "hidden.npy: damaged (float32"),
        (record(vocabulary=None), "paragraphs.json: damaged (vocabulary: Input should be a valid array)"),
        (without("window"), "paragraphs.json: damaged (settings.window: Field required); train again"),
        (words(lambda word, count: (word, count - 1000)), "damaged (counts.0: Input should be greater than 0)"),
        (record(counts=[1]), "hidden.npy: damaged (float32"),
    ],
)
def test_a_damaged_folder_is_said_with_its_file(damage, message, copy):
    damage(copy)
    with pytest.raises((SourceError, EncoderError)) as caught:
        load_encoder(f"paragraphs:{copy}").encode(["The judge"])
    assert message in str(caught.value)


def test_what_is_no_folder_is_refused(tmp_path):
    with pytest.raises(SourceError, match="no such model; create it with 'embassay train paragraphs'"):
        load_encoder(f"paragraphs:{tmp_path / 'none'}")
    assert paragraphs.REQUIRES == ("gensim",)


def test_a_training_that_is_not_finished_is_said(tmp_path):
    (tmp_path / "model.training").mkdir()
    with pytest.raises(SourceError, match="not finished; run the same 'embassay train' command again"):
        load_encoder(f"paragraphs:{tmp_path / 'model'}")
