"""Trees: bracketed parses, shapes, and the plan by which many are worked off at once."""

import numpy as np
import pytest

from embassay.core.errors import MissingExtraError, UnknownNameError
from embassay.models.static.brackets import read
from embassay.models.static.parses import check_source, parse
from embassay.models.static.tree_plans import TreePlan
from embassay.models.static.trees import balanced, binarised, right, shape_of

PARSE = "(S (NP (DT The) (NN shop)) (VP (VBZ is) (RB not) (ADJP (JJ open))) (. .))"


def shown(names, shape):
    """Write a shape over some names as nested pairs."""
    names = list(names)
    for left, right_ in shape.children.tolist():
        names.append(f"({names[left]} {names[right_]})")
    return names[-1] if names else ""


def random_shape(rng, leaves):
    """A shape that no builder makes: neighbours are merged in a random order."""
    nodes, merges = list(range(leaves)), []
    while len(nodes) > 1:
        place = int(rng.integers(len(nodes) - 1))
        merges.append((nodes[place], nodes[place + 1]))
        nodes[place : place + 2] = [leaves + len(merges) - 1]
    return shape_of(leaves, merges)


@pytest.mark.parametrize(
    ("shape", "expected", "heights"),
    [
        (right(4), "(a (b (c d)))", [1, 2, 3]),
        (balanced(4), "((a b) (c d))", [1, 1, 2]),
        (balanced(5), "(((a b) c) (d e))", [1, 2, 1, 3]),
        (right(2), "(a b)", [1]),
        (right(1), "a", []),
        (balanced(0), "", []),
    ],
)
def test_shapes_from_the_number_of_words(shape, expected, heights):
    assert shown("abcde"[: shape.leaves], shape) == expected
    assert shape.heights.tolist() == heights


def test_a_balanced_tree_is_as_low_as_can_be():
    for leaves in range(2, 70):
        assert balanced(leaves).heights.max() == int(np.ceil(np.log2(leaves)))


def test_brackets_of_several_parts_are_binarised_to_the_right():
    tree = read(PARSE)
    assert tree.words == ("the", "shop", "is", "not", "open", ".")
    assert shown(tree.words, tree.shape) == "((the shop) ((is (not open)) .))"


def test_traces_labels_and_escapes():
    tree = read("( (S (NP-SBJ (-NONE- *T*-1)) (VP (VB Go)) (-LRB- -LRB-) (ADVP (RB now)) (-RRB- -RRB-) (`` ``)) )")
    assert tree.words == ("go", "(", "now", ")", '"')
    assert shown(tree.words, tree.shape) == '(go (( (now () "))))'


def test_brackets_that_nest_too_deeply_are_refused():
    with pytest.raises(ValueError, match=r"not a bracketed parse: .*depth"):
        read("(A " * 20_000 + "(B one) (B two)" + ")" * 20_000)


def test_nothing_is_a_tree_without_words():
    assert read("  ").words == ()
    assert read("(S (-NONE- *))").shape.leaves == 0


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("(S (NP the shop)", r"expected '\)' but got 'end-of-string'"),
        ("(S open))", r"expected 'end-of-string' but got '\)'"),
        ("(S open) (S closed)", r"expected 'end-of-string' but got '\(S'"),
        ("The shop is open.", r"expected '\(' but got 'The'"),
        (") (", r"expected '\(' but got '\)'"),
        ("(S (NP) open)", r"the bracket \(NP\) contains no word"),
        ("(S ())", r"the bracket \(\) contains no word"),
    ],
)
def test_what_is_no_parse_says_why(line, problem):
    with pytest.raises(ValueError, match=f"not a bracketed parse: .*{problem}") as caught:
        read(line)
    assert "\n" not in str(caught.value)


def test_nested_words_are_binarised_to_the_right_and_empty_lists_are_left_out():
    tree = binarised([[], [["a"], "b", [[], []], "c"], "d"])
    assert shown(tree.words, tree.shape) == "((a (b c)) d)"


def test_a_plan_merges_what_the_trees_merge():
    rng = np.random.default_rng(0)
    makers = (right, balanced, lambda leaves: random_shape(rng, leaves))
    for _ in range(60):
        shapes = [makers[rng.integers(3)](int(rng.integers(0, 8))) for _ in range(rng.integers(0, 7))]
        total = sum(shape.leaves for shape in shapes)
        plan = TreePlan.of(shapes)
        # Each word by its name; inner nodes as nested pairs, worked off level by level.
        leaves = [f"w{word}" for word in plan.order.tolist()]
        starts = np.cumsum([0, *plan.sizes]).tolist()
        inner, waiting = [], []
        for level, start, stop in zip(plan.levels, starts[1:], starts[2:], strict=False):
            pool = leaves[start:stop] + waiting
            pairs = [pool[row] for row in level.children.tolist()]
            new = [f"({a} {b})" for a, b in zip(pairs[::2], pairs[1::2], strict=True)]
            inner += new
            waiting = [(new + pool)[row] for row in level.waiting.tolist()]
        assert not waiting
        assert sorted(plan.order.tolist()) == list(range(total))
        rows, first = leaves + inner + [""], 0
        for shape, root in zip(shapes, plan.roots.tolist(), strict=True):
            names = [f"w{first + word}" for word in range(shape.leaves)]
            assert rows[root] == shown(names, shape)
            first += shape.leaves


def test_a_plan_unfolds_every_inner_node_to_the_words_below_it():
    rng = np.random.default_rng(1)
    for _ in range(30):
        shapes = [random_shape(rng, int(rng.integers(0, 9))) for _ in range(4)]
        plan = TreePlan.of(shapes)
        found = np.zeros(len(plan.order), dtype=int)
        for step in plan.steps:
            np.add.at(found, plan.order[step.targets], 1)
            assert sorted([*step.words, *step.inner]) == list(range(len(step.words) + len(step.inner)))
        # A word is reached once from each of its ancestors.
        expected = []
        for shape in shapes:
            above = {child: shape.leaves + n for n, pair in enumerate(shape.children.tolist()) for child in pair}
            for word in range(shape.leaves):
                depth, node = 0, word
                while node in above:
                    depth, node = depth + 1, above[node]
                expected.append(depth)
        assert found.tolist() == expected


def test_sources():
    texts = ["The shop isn't open.", "", "Yes"]
    assert [t.words for t in parse(texts, "right")] == [("the", "shop", "isn", "'", "t", "open", "."), (), ("yes",)]
    assert [shown(t.words, t.shape) for t in parse(["a b c d"], "balanced")] == ["((a b) (c d))"]
    assert [t.words for t in parse([PARSE, ""], "brackets")] == [read(PARSE).words, ()]
    with pytest.raises(ValueError, match="not a bracketed parse") as caught:
        parse([PARSE, "The shop."], "brackets")
    assert caught.value.args[1] == 1


def test_an_unknown_source():
    with pytest.raises(UnknownNameError, match="did you mean 'balanced'"):
        check_source("balance", "here")


def test_brackets_need_nltk(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"here, trees=brackets, needs the extra 'words': pip install"):
        check_source("brackets", "here")
