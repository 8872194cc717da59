"""The HTML page: complete, escaped, self-contained; words and numbers as they should be."""

import re
from dataclasses import replace

import pytest

from embassay.api import assay, report
from embassay.encoders.hashing import HashingEncoder
from embassay.reports.tables import Scope, comparison_table, encoder_table, subset_table
from embassay.reports.words import interval, names, number, p_value, verdict
from embassay.result import CorpusRecord, EncoderRecord, Result, Row, Verdict
from embassay.run import layouts
from embassay.samples import Choice
from embassay.types import Corpus

EVIL = "<script>alert('x')</script>&\"</td>"


class Labelled(HashingEncoder):
    """A hashing encoder under any name."""

    def __init__(self, name):
        super().__init__(64, name)


@pytest.fixture(scope="module")
def evil_page(tmp_path_factory):
    samples = tuple(
        Choice(f"{n}", *(f"{EVIL} {kind}{n}" for kind in "iapq"), f"{EVIL}pos", f"{EVIL}pair", EVIL) for n in range(12)
    )
    corpus = Corpus(f"{EVIL}corpus", "choice", samples, licence=EVIL, source=EVIL)
    result = assay([Labelled(f"{EVIL}label")], [corpus], cache=None)
    return report(result, tmp_path_factory.mktemp("evil") / "r.html").read_text(encoding="utf-8")


def test_all_text_from_data_is_escaped(evil_page):
    body = re.sub(r"<script>.*?</script>", "", evil_page.split("</style>")[1].split("<script>\n")[0], flags=re.S)
    assert "alert(&#39;x&#39;)" in evil_page
    assert "<script>alert" not in evil_page
    assert "</script>&" not in body
    assert "\\u003cscript\\u003ealert" in evil_page, "inside the chart's data it is escaped for JSON"


def test_nothing_is_loaded_from_elsewhere(evil_page):
    outside = re.sub(r"<script>.*?</script>", "", evil_page, flags=re.S)
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", outside)
    assert "default-src 'none'" in evil_page
    assert "unsafe-eval" not in evil_page.split("</head>")[0]


def test_every_script_that_runs_is_named_by_its_hash(evil_page):
    policy = re.search(r"script-src ([^\"]*)", evil_page).group(1)
    scripts = re.findall(r"<script>(.*?)</script>", evil_page, flags=re.S)
    import base64
    import hashlib

    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_the_signature_stands_under_each_table_of_figures():
    result = assay(["hashing", "bow"], ["opposites"], cache=None)
    layout = layouts(result)["negated_antonyms"]
    table = encoder_table(Scope(result, "negated_antonyms", "opposites", layout.headline.columns[0]), layout.headline)
    assert len(table.signatures) == 4
    assert all(line.startswith("negated_antonyms|corpus:opposites@") for line in table.signatures)


def test_rows_are_sorted_by_the_headline_and_baselines_are_marked():
    result = assay(["hashing", "bow"], ["opposites"], cache=None)
    layout = layouts(result)["negated_antonyms"]
    table = encoder_table(Scope(result, "negated_antonyms", "opposites", layout.headline.columns[0]), layout.headline)
    assert table.rows[0][0].text == "random"
    assert table.rows[0][0].remark == "baseline"
    assert table.head == ("encoder", "accuracy", "takes antonym", "takes polarity")


def test_small_subsets_say_why_they_have_no_interval():
    result = assay(["hashing"], ["opposites"], cache=None)
    layout = layouts(result)["negated_antonyms"]
    scope = Scope(result, "negated_antonyms", "opposites", layout.headline.columns[0])
    parts = [p for p in layout.parts if type(p).__name__ == "SubsetTable"]
    pairs = subset_table(scope, parts[1])
    assert pairs.folded
    assert all(row[2].remark == "no interval under 10 units (1 here)" for row in pairs.rows)
    groups = subset_table(scope, parts[0])
    assert {row[0].text for row in groups.rows} >= {"part of speech: verb", "negation: never"}
    assert next(row for row in groups.rows if row[0].text == "part of speech: verb")[2].remark == "few units (24)"


def test_one_encoder_alone_has_no_comparisons():
    result = assay(["hashing"], ["opposites"], baselines=False, cache=None)
    layout = layouts(result)["negated_antonyms"]
    part = next(p for p in layout.parts if type(p).__name__ == "ComparisonTable")
    assert comparison_table(Scope(result, "negated_antonyms", "opposites", layout.headline.columns[0]), part) is None


@pytest.mark.parametrize(
    ("value", "style", "signed", "text"),
    [
        (0.01935279188, "percent", False, "1.9%"),
        (1.0, "percent", False, "100.0%"),
        (-0.0123, "percent", True, "−1.2%"),
        (0.5, "number", False, "0.500"),
        (0.5, "number", True, "+0.500"),
        (None, "percent", False, "–"),
    ],
)
def test_numbers(value, style, signed, text):
    assert number(value, style, signed) == text


def test_intervals_p_values_and_lists():
    assert interval(0.014, 0.0253) == "[1.4, 2.5]"
    assert interval(None, 0.5) == ""
    assert [p_value(p) for p in (1e-4, 0.0123, 0.5, None)] == ["<0.001", "0.012", "0.50", "–"]
    assert [names(t) for t in ((), ("a",), ("a", "b"), ("a", "b", "c"))] == ["", "a", "a and b", "a, b and c"]


def result_of(found, *, builtin=False, values=None):
    """A result with one corpus, and the rows that a verdict looks up."""
    values = values or {"a": 0.8, "b": 0.7}
    rows = tuple(
        Row("d", "c", name, "all", "cosine", "", "accuracy", v, None, None, 100, 50, 0, None, "s")
        for name, v in values.items()
    )
    encoders = tuple(EncoderRecord(n, n, "f", "", 3, None, {}, False) for n in values)
    corpus = CorpusRecord("c", "choice", "f", 100, 50, 7, 90, "CC0", "", builtin)
    return Result(0, 1000, encoders=encoders, corpora=(corpus,), rows=rows, verdicts=(found,))


def found(**changes):
    usual = {
        "candidates": ("a", "b"),
        "best": "a",
        "value": 0.8,
        "low": 0.75,
        "high": 0.85,
        "not_separable": ("a", "b"),
    }
    return Verdict("d", "c", "accuracy", 100, 50, **{**usual, **changes})


def lines_of(verdict_, speed=None, **options):
    return list(verdict(result_of(verdict_, **options), verdict_, speed or {}))


def test_a_verdict_names_the_best_those_not_separable_and_the_fastest():
    given = found(chance=1 / 3, smallest_difference=0.07, smallest_units=48, notes=("One finding",))
    assert lines_of(given, {"a": 10.0, "b": 2000.0}) == [
        "Support: 100 items (7 duplicate rows) in 50 independent units, 90 distinct texts.",
        "Best: a (80.0% accuracy); not separable from it: b.",
        "Fastest of them: b (2,000 texts/s here).",
        "48 units show gaps above 7.0 points (power 80%); smaller ones may go unseen.",
        "One finding.",
    ]


def test_a_verdict_never_says_tied_or_equal_and_is_silent_on_unknown_speeds():
    text = " ".join(lines_of(found(), {"a": 10.0}))
    assert "Fastest" not in text
    assert "tied" not in text
    assert "equal" not in text


def test_a_verdict_where_all_is_separable_and_below_chance():
    lines = lines_of(found(chance=0.9, not_separable=("a",), above=("random",)), {"a": 1.0, "b": 2.0})
    assert "Highest: a (80.0% accuracy, below the 90.0% of chance); every other encoder is separable from it." in lines
    assert "Significantly higher than a: the baseline random." in lines


def test_a_value_below_chance_whose_interval_is_not_is_not_called_below():
    assert "below" not in lines_of(found(chance=0.82))[1]


def test_below_chance_nobody_is_recommended_for_speed():
    assert not any("Fastest" in line for line in lines_of(found(chance=0.9), {"a": 1.0, "b": 2.0}))


def test_what_could_not_be_compared_is_named():
    lines = lines_of(found(undefined=("z",), not_separable=("a",)))
    assert "Undefined for every item, so not compared: z." in lines


def test_one_encoder_alone_and_none_at_all():
    assert "One encoder: a (80.0% accuracy); name a second one with -e to compare." in lines_of(
        found(candidates=("a",), not_separable=("a",))
    )
    nobody = {"candidates": (), "best": None, "value": None, "low": None, "high": None, "not_separable": ()}
    assert lines_of(found(**nobody))[1] == "Only baselines took part; name an encoder with -e."
    assert lines_of(found(**nobody, undefined=("z",)))[1] == "Undefined for every item: z."


def test_texts_that_were_cut_are_said():
    given = found()
    result = result_of(given)
    cut = replace(result.encoders[0], max_tokens=256, truncated=4)
    lines = list(verdict(replace(result, encoders=(cut, *result.encoders[1:])), given, {}))
    assert lines[-1] == "a reads 256 tokens: 4 longer texts were cut."


def test_a_verdict_on_a_built_in_corpus_names_nobody():
    nobody = {"best": None, "value": None, "low": None, "high": None, "not_separable": ()}
    lines = lines_of(found(**nobody), builtin=True)
    assert lines[1] == "A built-in corpus, for trying things out: no best model is named on it."
    assert not any("Best" in line for line in lines)
