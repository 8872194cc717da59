"""Training the unfolding recursive autoencoder: what it learns, how it goes on, what it refuses."""

import json

import numpy as np
import pytest

from embassay.core.errors import InputError, SourceError
from embassay.models.static.trees import right
from embassay.run.resolve import load_encoder
from embassay.training.options import UraeOptions
from embassay.training.unfolding import new_matrices

torch = pytest.importorskip("torch", reason="the hf extra is not installed")

from embassay.training import unfolding, urae  # noqa: E402
from embassay.training.unfolding import Learner  # noqa: E402

SUBJECTS = ["the baker", "the old man", "a child", "the cat", "nobody"]
LINES = [f"{who} {does}." for who in SUBJECTS for does in ("sleeps", "sees the garden", "is not at home", "waits here")]
FILES = {"words.npy", "fold.npy", "fold_bias.npy", "unfold.npy", "unfold_bias.npy", "urae.json"}


class StoppedError(Exception):
    """What ends a training in the middle here."""


def silent(done, total):
    pass


def train(text, out, advance=silent, overwrite=False, **options):
    return urae.train(text, out, UraeOptions(**options), overwrite=overwrite, advance=advance)


def stop_at(sentences):
    def advance(done, total):
        if done >= sentences:
            raise StoppedError

    return advance


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return path


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def record(folder):
    return json.loads((folder / "urae.json").read_bytes())


@pytest.mark.parametrize("options", [{}, {"trees": "balanced"}, {"normalize": True}])
def test_the_loss_falls(text, tmp_path, options):
    seen = []
    trained = train(
        text, tmp_path / "model", dim=10, epochs=6, rate=0.02, advance=lambda *how: seen.append(how), **options
    )
    losses = record(trained.folder)["losses"]
    assert len(losses) == 6
    assert losses[-1] < 0.8 * losses[0]
    assert seen[0] == (0, 120)
    assert seen[-1] == (120, 120)
    assert sorted(done for done, _ in seen) == [done for done, _ in seen]


def test_what_it_leaves(text, tmp_path):
    trained = train(text, tmp_path / "model", dim=5, epochs=1)
    assert set(files(trained.folder)) == FILES
    assert trained.spec == f"urae:{tmp_path / 'model'}"
    assert trained.notes == ()
    found = record(trained.folder)
    assert found["settings"]["trees"] == "right"
    assert found["vocabulary"][0] == "."
    assert set(found["vocabulary"]) == {word for line in LINES for word in line.replace(".", " .").split()}
    words = np.load(trained.folder / "words.npy")
    assert words.shape == (len(found["vocabulary"]) + 1, 5)
    # The loss alone would let the words shrink.
    assert np.allclose(words.mean(axis=0), 0, atol=1e-6)
    assert np.allclose(words.std(axis=0), 0.1, atol=1e-3)
    vectors = load_encoder(trained.spec).encode(["the cat sleeps.", "the cat is not at home."])
    assert np.linalg.norm(vectors[0] - vectors[1]) > 0.01


def test_a_stopped_training_gives_the_same_bytes(text, tmp_path):
    options = {"epochs": 4, "advance": silent, "dim": 6}
    whole = train(text, tmp_path / "whole", **options)
    for sentences in (0, 25, 60):
        with pytest.raises(StoppedError):
            train(text, tmp_path / "cut", **{**options, "advance": stop_at(sentences)})
        assert not (tmp_path / "cut").exists()
    seen = []
    train(text, tmp_path / "cut", **{**options, "advance": lambda *how: seen.append(how)})
    assert seen[0] == (40, 80)  # the third epoch was stopped, so two were done
    assert files(tmp_path / "cut") == files(whole.folder)
    other = train(text, tmp_path / "other", **{**options, "seed": 1})
    assert files(other.folder) != files(whole.folder)


def test_the_number_of_threads_makes_no_difference_and_comes_back(text, tmp_path):
    # Large enough for torch to share a product among threads, which would move the last bits.
    text.write_text("\n".join(f"{line} {line} {line}" for line in LINES), encoding="utf-8")
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            train(text, tmp_path / f"{threads}", dim=128, epochs=1)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert files(tmp_path / "1") == files(tmp_path / "2")


def learner_of(words, rate=0.05):
    """A learner with fresh matrices, and what they were."""
    matrices = new_matrices(words.shape[1], np.random.default_rng(0))
    learner = Learner({**matrices, "words": words}, UraeOptions(rate=rate))
    return matrices, learner


def test_the_first_step_goes_down_by_the_rate():
    # AdaGrad's first step is rate · g/|g| in each number: against the sign of the gradient, taken here by differences.
    words = np.array([[0.3, -0.2], [0.1, 0.4]], dtype=np.float32)
    before, learner = learner_of(words)

    def loss(bias):
        top = np.tanh(before["fold"].astype(np.float64) @ words.reshape(-1) + bias)
        return ((np.tanh(before["unfold"] @ top) - words.reshape(-1)) ** 2).sum()

    steps = np.eye(2) * 1e-6
    gradient = np.array([(loss(step) - loss(-step)) / 2e-6 for step in steps])
    learner.step([np.array([0, 1])], [right(("a", "b"))])
    state = learner.state()
    assert np.allclose(state["fold_bias"], -0.05 * np.sign(gradient), atol=1e-5)
    assert np.allclose(state["fold_bias_sum"], gradient**2, rtol=1e-3)


def test_the_penalty_is_in_the_gradient(monkeypatch):
    def after(decay):
        monkeypatch.setattr(unfolding, "DECAY", decay)
        before, learner = learner_of(np.array([[0.3, -0.2], [0.1, 0.4]], dtype=np.float32))
        learner.step([np.array([0, 1])], [right(("a", "b"))])
        return before, learner.state()

    before, plain = after(0.0)
    decayed = after(0.5)[1]
    for name in ("fold", "unfold"):
        # The gradient of 0.5 ‖W‖² is W.
        gradient = np.sign(before[name] - plain[name]) * np.sqrt(plain[f"{name}_sum"])
        assert np.allclose(decayed[f"{name}_sum"], (gradient + before[name]) ** 2, atol=1e-5)
    for name in ("fold_bias", "unfold_bias", "words"):
        assert np.array_equal(decayed[f"{name}_sum"], plain[f"{name}_sum"])


def test_known_words_are_now_and_then_unknown():
    counts = np.array([0, 1, 1000])
    material = urae.TreeSentences([], [np.array([1, 2] * 5000)], [], counts, [])
    masked = material.masked(0, np.random.default_rng(0)).reshape(-1, 2)
    assert (masked[:, 0] == 0).mean() == pytest.approx(0.2, abs=0.02)  # 0.25/(0.25 + 1)
    assert (masked[:, 1] == 0).mean() < 0.003
    assert set(masked[:, 1]) <= {0, 2}


def test_sentences_too_short_or_too_long_are_left_out(tmp_path):
    (tmp_path / "text.txt").write_text("\n".join([*LINES, "Yes", "so " * 201]), encoding="utf-8")
    trained = train(tmp_path / "text.txt", tmp_path / "model", dim=4, epochs=1)
    assert trained.notes == ("2 of 22 sentences were left out: fewer than 2 or more than 200 words",)
    assert "yes" not in record(trained.folder)["vocabulary"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"dim": 0}, "option 'dim': must be greater than or equal to 1, is 0"),
        ({"epochs": 0}, "option 'epochs'"),
        ({"rate": 0.0}, "option 'rate': must be greater than 0"),
        ({"rate": float("nan")}, "option 'rate'"),
        ({"seed": -1}, "option 'seed': must be greater than or equal to 0"),
        ({"trees": "oak"}, "unknown source of trees 'oak'"),
    ],
)
def test_options_that_cannot_be(text, tmp_path, options, problem):
    with pytest.raises(InputError, match=problem):
        train(text, tmp_path / "model", **options)
    assert not (tmp_path / "model").exists()


def test_a_sentence_without_a_parse_is_named_by_its_line(tmp_path):
    (tmp_path / "text.txt").write_text("It rains.\n\nIt snows.\n", encoding="utf-8")
    (tmp_path / "parses.mrg").write_text("(S (NP it) (VP rains) .)", encoding="utf-8")
    with pytest.raises(SourceError, match=r"text\.txt, line 3: .*parses\.mrg has no parse of the text 'It snows\.'"):
        train(tmp_path / "text.txt", tmp_path / "model", trees=str(tmp_path / "parses.mrg"))
    assert not (tmp_path / "model").exists()


def test_a_text_with_nothing_to_unfold(tmp_path):
    (tmp_path / "text.txt").write_text("Yes\nNo\n", encoding="utf-8")
    with pytest.raises(SourceError, match="no sentence has 2 to 200 words; there is nothing to unfold"):
        train(tmp_path / "text.txt", tmp_path / "model")
    assert not (tmp_path / "model").exists()
