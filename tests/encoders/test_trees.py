"""Trees: bracketed parses, shapes, a parser's constituents, and the plan by which many are worked off at once."""

import re

import numpy as np
import pytest

from embassay.encoders.static import link_parser
from embassay.encoders.static.brackets import read
from embassay.encoders.static.parses import check_source, parse, words
from embassay.encoders.static.tree_plans import TreePlan
from embassay.encoders.static.trees import balanced, binarised, right, shape_of
from embassay.errors import EncoderError, MissingExtraError, SpecError, UnknownNameError

PARSE = "(S (NP (DT The) (NN shop)) (VP (VBZ is) (RB not) (ADJP (JJ open))) (. .))"
needs_parser = pytest.mark.skipif(not link_parser.installed(), reason="the program link-parser is not installed")


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
    assert words(texts, "right") == [("the", "shop", "isn", "'", "t", "open", "."), (), ("yes",)]
    assert [shown(t.words, t.shape) for t in parse(["a b c d"], "balanced").trees] == ["((a b) (c d))"]
    assert [t.words for t in parse([PARSE, ""], "brackets").trees] == [read(PARSE).words, ()]
    with pytest.raises(ValueError, match="not a bracketed parse") as caught:
        parse([PARSE, "The shop."], "brackets")
    assert caught.value.args[1] == 1


def test_an_unknown_source_and_a_missing_program(monkeypatch):
    with pytest.raises(UnknownNameError, match="did you mean 'balanced'"):
        check_source("balance", "here")
    monkeypatch.setattr(link_parser, "PROGRAM", "no-such-program")
    with pytest.raises(SpecError, match="here: the program no-such-program is not installed: apt install link-grammar"):
        check_source("link-parser", "here")


def test_brackets_need_nltk(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"here, trees=brackets, needs the extra 'words': pip install"):
        check_source("brackets", "here")


def test_a_parser_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(link_parser, "PROGRAM", "false")
    with pytest.raises(EncoderError, match="false failed"):
        parse(["The shop is open."], "link-parser")


def test_the_parsers_words_are_found_in_the_text():
    text = 'He said: "It\'s 3.5% more [now]."'
    answer = '[S [NP he NP] [VP said.v-d : " [S [NP it NP] [VP \'s.v 3.5{!} % [ADVP more.r {now}] {]} . " VP] S] VP] S]'
    answer = answer.replace("{now}] {]}", "ADVP] {{} {now} {}}")
    tree = link_parser.tree_of(text, answer)
    assert tree is not None
    names = re.findall(r"\w+|[^\w\s]", text.lower())
    assert list(tree.words) == names
    assert shown(names, tree.shape).startswith('(he (said (: (" (it (')
    assert "((3 (. 5)) " in shown(names, tree.shape)
    assert link_parser.tree_of(text, "[S [NP she NP] S]") is None


@needs_parser
def test_the_parser_gives_constituents():
    found = parse(["The shop is open.", "The old man sleeps in a chair."], "link-parser")
    assert (found.sent, found.fell_back) == (2, 0)
    first, second = (shown(t.words, t.shape) for t in found.trees)
    assert first == "((the shop) ((is open) .))"
    assert "(the (old man))" in second
    assert "(in (a chair))" in second


@needs_parser
def test_what_the_parser_cannot_parse_is_right_branching_and_counted():
    texts = ["The of and the the of.", "", "Yes", "!exit", "%", "The cat " * 60, "the shop is open.\n!exit\n"]
    found = parse([*texts, "The rain falls."], "link-parser")
    assert found.sent == 5
    assert found.fell_back >= 2
    for tree in (found.trees[0], found.trees[5]):
        assert np.array_equal(tree.shape.children, right(len(tree.words)).children)
    assert shown(found.trees[-1].words, found.trees[-1].shape) == "((the rain) (falls .))"
    assert all(len(tree.words) == tree.shape.leaves for tree in found.trees)


@needs_parser
def test_a_sentence_is_parsed_alike_alone_and_among_others():
    texts = [
        "Although it was raining, the children who lived in the house went out to play in the garden with the dog.",
        "I saw the man with the telescope in the park near the river on a Sunday in May, and he saw me too.",
        "The shop is open.",
    ]
    together = parse(texts, "link-parser")
    backwards = parse(texts[::-1], "link-parser").trees[::-1]
    for place, text in enumerate(texts):
        alone = parse([text], "link-parser").trees[0]
        for tree in (together.trees[place], backwards[place]):
            assert np.array_equal(tree.shape.children, alone.shape.children)
