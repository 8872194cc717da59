"""The unfolding recursive autoencoder: its mathematics against naive recursion, and its folder as an encoder."""

import json
import shutil

import numpy as np
import pytest

from embassay.core.errors import EncoderError, SourceError, SpecError
from embassay.models.static.trees import balanced, joined, right, words_of
from embassay.run.resolve import load_encoder

torch = pytest.importorskip("torch", reason="the hf extra is not installed")

from embassay.models.static.autoencoder import Matrices, encode, penalty, unfolding_loss  # noqa: E402
from embassay.training.options import UraeOptions  # noqa: E402
from embassay.training.urae import train  # noqa: E402

LINES = ["The shop is open.", "The shop is not open.", "It rains and rains.", "The old baker sleeps.", "Rain falls."]


def silent(done, total):
    pass


def matrices(dim, normalize=False, seed=0):
    rng = np.random.default_rng(seed)
    shapes = ((dim, 2 * dim), (dim,), (2 * dim, dim), (2 * dim,))
    return Matrices(*(torch.from_numpy(rng.normal(0, 0.5, shape)) for shape in shapes), normalize=normalize)


def nested(tree):
    """Return a tree over 0, 1 … as nested pairs; None without words."""
    stack, word = [], 0
    for part in tree:
        if part is None:
            second, first = stack.pop(), stack.pop()
            stack.append((first, second))
        else:
            stack.append(word)
            word += 1
    return stack[0] if stack else None


def fold(words, node, fold_matrix, bias, normalize):
    """Return the vector of a nested pair, by recursion."""
    if not isinstance(node, tuple):
        return words[node]
    below = [fold(words, child, fold_matrix, bias, normalize) for child in node]
    folded = np.tanh(fold_matrix @ np.concatenate(below) + bias)
    return folded / np.linalg.norm(folded) if normalize else folded


def naive_loss(words, node, m):
    """Return the loss of a nested pair by recursion, in numpy."""
    down, bias = m.unfold.numpy(), m.unfold_bias.numpy()

    def error(node, vector):
        if not isinstance(node, tuple):
            return ((words[node] - vector) ** 2).sum()
        return sum(map(error, node, np.split(np.tanh(down @ vector + bias), 2)))

    if not isinstance(node, tuple):
        return 0.0
    own = error(node, fold(words, node, m.fold.numpy(), m.fold_bias.numpy(), m.normalize))
    return own + sum(naive_loss(words, child, m) for child in node)


def tree_of(make, words):
    return make(("word",) * words)


def random_trees(rng, number):
    """Return trees that no source gives: neighbours are merged in a random order."""
    found = []
    for _ in range(number):
        parts = [("word",)] * int(rng.integers(0, 8))
        while len(parts) > 1:
            place = int(rng.integers(len(parts) - 1))
            parts[place : place + 2] = [(*parts[place], *parts[place + 1], None)]
        found.append(parts[0] if parts else ())
    return found


def test_the_loss_of_three_words_worked_by_hand():
    # (x0 (x1 x2)) with one dimension: x = 0.5, -0.2, 0.1; W_e = [0.6 0.4], b_e = 0.1; W_d = [0.5; -0.3],
    # b_d = [0.05; 0.2].
    #   p1 = tanh(0.6 * -0.2 + 0.4 * 0.1 + 0.1)      = tanh(0.02)     = 0.019997
    #   p2 = tanh(0.6 * 0.5 + 0.4 * 0.019997 + 0.1)  = tanh(0.407999) = 0.386772
    #   from p1: x1' = tanh(0.059999) = 0.059927, x2' = tanh(0.194001) = 0.191603
    #   from p2: x0' = tanh(0.243386) = 0.238692, p1' = tanh(0.083968) = 0.083772,
    #            x1' = tanh(0.091886) = 0.091628, x2' = tanh(0.174868) = 0.173108
    #   0.259927² + 0.091603² + 0.261308² + 0.291628² + 0.073108² = 0.234627
    m = Matrices(*map(torch.tensor, ([[0.6, 0.4]], [0.1], [[0.5], [-0.3]], [0.05, 0.2])))
    merges, [root] = joined([tree_of(right, 3)])
    words = torch.tensor([[0.5], [-0.2], [0.1]])
    vectors = encode(words, merges, m)
    assert [vectors[node].item() for node in (-1, -2)] == pytest.approx([0.019997, 0.386772], abs=1e-6)
    assert root == -2
    assert unfolding_loss(words, merges, m).item() == pytest.approx(0.234627, abs=1e-6)
    assert penalty(m).item() == pytest.approx(0.36 + 0.16 + 0.25 + 0.09, abs=1e-6)


@pytest.mark.parametrize("normalize", [False, True])
def test_many_trees_at_once_give_what_each_gives_alone(normalize):
    rng, dim = np.random.default_rng(1), 4
    m = matrices(dim, normalize)
    some = [tree_of(right, 5), tree_of(balanced, 6), tree_of(right, 1), ()]
    for _ in range(20):
        trees = [*random_trees(rng, int(rng.integers(0, 5))), *some]
        words = rng.normal(0, 0.3, (sum(len(words_of(tree)) for tree in trees), dim))
        merges, roots = joined(trees)
        vectors = encode(torch.from_numpy(words), merges, m)
        expected, first, tops = 0.0, 0, []
        for tree in filter(None, trees):
            words_of_tree = words[first : first + len(words_of(tree))]
            first += len(words_of_tree)
            expected += naive_loss(words_of_tree, nested(tree), m)
            tops.append(fold(words_of_tree, nested(tree), m.fold.numpy(), m.fold_bias.numpy(), normalize))
        assert np.allclose([vectors[root] for root in roots], tops, atol=1e-12)
        assert unfolding_loss(torch.from_numpy(words), merges, m).item() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("normalize", [False, True])
def test_the_gradient_is_that_of_finite_differences(normalize):
    rng, dim = np.random.default_rng(2), 3
    trees = [*random_trees(rng, 3), tree_of(right, 4), tree_of(balanced, 4)]
    words = torch.from_numpy(rng.normal(0, 0.3, (sum(len(words_of(tree)) for tree in trees), dim))).requires_grad_()
    merges, _ = joined(trees)
    m = matrices(dim, normalize)
    given = [t.requires_grad_() for t in (m.fold, m.fold_bias, m.unfold, m.unfold_bias)]
    assert torch.autograd.gradcheck(
        lambda x, *tensors: unfolding_loss(x, merges, Matrices(*tensors, normalize=normalize)), (words, *given)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("urae")
    (place / "text.txt").write_text("\n".join(LINES), encoding="utf-8")
    train(
        place / "text.txt", place / "model", UraeOptions(trees="right", dim=6, epochs=3, normalize=True), advance=silent
    )
    return place / "model"


@pytest.fixture
def copied(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "model")
    return tmp_path / "model"


def test_a_vector_is_the_root_of_the_arrays_in_the_folder(folder):
    rows = {word: row for row, word in enumerate(json.loads((folder / "urae.json").read_bytes())["vocabulary"], 1)}
    words, up, bias = (np.load(folder / f"{name}.npy") for name in ("words", "fold", "fold_bias"))
    texts = {
        "The shop is NOT open.": ["the", "shop", "is", "not", "open", "."],
        "A baker sleeps": ["a", "baker", "sleeps"],
        "rains": ["rains"],
        "Unheard": ["unheard"],
    }
    for trees, make in (("right", right), ("balanced", balanced)):
        found = load_encoder(f"urae:{folder},trees={trees}").encode([*texts, ""])
        assert (found.dtype, found.shape) == (np.float32, (5, 6))
        for vector, cut in zip(found, texts.values(), strict=False):
            leaves = [words[rows.get(word, 0)] for word in cut]
            assert np.allclose(vector, fold(leaves, nested(make(tuple(cut))), up, bias, True), atol=1e-6)
        assert not found[-1].any()
    assert "a" not in rows


def test_unknown_words_are_counted(folder):
    encoder = load_encoder(f"urae:{folder}")
    assert encoder.unknown_words(["The shop is shut.", "", "Where?", "rain rain"]) == (3, 9, 2)
    same = encoder.encode(["the shop is shut", "the shop is closed"])
    assert np.array_equal(*same)


def test_it_says_what_it_is(folder, copied):
    plain = load_encoder(f"urae:{folder}")
    tall = load_encoder(f"urae:{folder},trees=balanced")
    assert plain.card.spec == f"urae:{folder}"
    assert tall.card.spec == f"urae:{folder},trees=balanced"
    assert plain.card.warnings == tall.card.warnings == ()
    assert plain.fingerprint != tall.fingerprint
    assert plain.fingerprint == load_encoder(f"urae:{folder},trees=right").fingerprint
    assert plain.fingerprint == load_encoder(f"urae:{copied}").fingerprint
    changed = np.load(copied / "fold.npy")
    np.save(copied / "fold.npy", changed + np.float32(1e-6))
    assert plain.fingerprint != load_encoder(f"urae:{copied}").fingerprint
    assert "model" not in vars(plain)
    plain.encode(["rain"])
    assert "model" in vars(plain)
    plain.release()
    assert "model" not in vars(plain)


def test_trees_come_from_a_file_of_parses(folder, tmp_path):
    # As treebanks have them: over several lines, in a bracket without a label, with marks and brackets escaped.
    parses = tmp_path / "mine.mrg"
    parses.write_text(
        "( (S (NP (DT The) (NN shop))\n   (VP (VBZ is) (RB n't) (ADJP (JJ open))) (-LRB- -LRB-) (. .)) )\n\n"
        "(S (VP rain) (VP (VP falls) (NP now)))",
        encoding="utf-8",
    )
    found = load_encoder(f"urae:{folder},trees={parses}")
    rows = {word: row for row, word in enumerate(json.loads((folder / "urae.json").read_bytes())["vocabulary"], 1)}
    words, up, bias = (np.load(folder / f"{name}.npy") for name in ("words", "fold", "fold_bias"))
    leaves = [words[rows.get(word, 0)] for word in ("the", "shop", "is", "n't", "open", "(", ".")]
    wanted = fold(leaves, ((0, 1), ((2, (3, 4)), (5, 6))), up, bias, True)
    vectors = found.encode(["The shop isn't open (.", "Rain falls, now!", ""])
    assert np.allclose(vectors[0], wanted, atol=1e-6)
    assert not vectors[2].any()
    assert found.unknown_words(["rain falls now"])[1] == 3
    with pytest.raises(EncoderError, match=r"has no parse of the text 'Nothing'; trees=right needs no parse"):
        found.encode(["Nothing"])
    parses.write_text("(S (NP rain))", encoding="utf-8")
    assert load_encoder(f"urae:{folder},trees={parses}").fingerprint != found.fingerprint
    parses.write_text("(S (NP rain)", encoding="utf-8")
    with pytest.raises(SourceError, match=r"mine\.mrg: not bracketed parses: "):
        load_encoder(f"urae:{folder},trees={parses}")


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(SourceError, match="no such model; create it with 'embassay train urae'"):
        load_encoder(f"urae:{tmp_path / 'nowhere'}")
    with pytest.raises(SourceError, match=r"urae\.json: no such model"):
        load_encoder(f"urae:{tmp_path}")
    with pytest.raises(SpecError, match="write urae:FOLDER"):
        load_encoder("urae")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("fold.npy", b"no array", r"fold\.npy: damaged"),
        (
            "fold.npy",
            np.zeros((6, 6), np.float32),
            r"fold\.npy: damaged \(float32 \(6, 6\), not finite float32 \(6, 12\)",
        ),
        ("words.npy", np.full((3, 6), np.nan, np.float32), r"words\.npy: damaged \(float32 \(3, 6\)"),
        ("unfold_bias.npy", np.zeros(12), r"unfold_bias\.npy: damaged \(float64"),
    ],
)
def test_damaged_arrays(copied, name, content, problem):
    if isinstance(content, bytes):
        (copied / name).write_bytes(content)
    else:
        np.save(copied / name, content)
    with pytest.raises(EncoderError, match=problem):
        load_encoder(f"urae:{copied}").encode(["rain"])
