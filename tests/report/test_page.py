"""The HTML page: complete, escaped, self-contained; words and numbers as they should be."""

import re

import pytest

from embassay.api import assay, report
from embassay.report.tables import Scope, comparison_table, encoder_table, subset_table
from embassay.report.words import interval, names, number, p_value, verdict
from embassay.run import layouts
from embassay.samples import Choice
from embassay.types import Corpus, CorpusRecord, EncoderRecord, Result, Row, Verdict

EVIL = "<script>alert('x')</script>&\"</td>"


@pytest.fixture(scope="module")
def evil_page(tmp_path_factory):
    samples = tuple(
        Choice(f"{n}", *(f"{EVIL} {kind}{n}" for kind in "iapq"), f"{EVIL}pos", f"{EVIL}pair", EVIL) for n in range(12)
    )
    corpus = Corpus(f"{EVIL}corpus", "choice", samples, licence=EVIL, source=EVIL)
    result = assay([f"{EVIL}label=hashing".replace(",", "")], [corpus], cache=None)
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
    table = encoder_table(Scope(result, "negated_antonyms", "opposites"), layout.headline)
    assert len(table.signatures) == 4
    assert all(line.startswith("negated_antonyms|corpus:opposites@") for line in table.signatures)


def test_rows_are_sorted_by_the_headline_and_baselines_are_marked():
    result = assay(["hashing", "bow"], ["opposites"], cache=None)
    layout = layouts(result)["negated_antonyms"]
    table = encoder_table(Scope(result, "negated_antonyms", "opposites"), layout.headline)
    assert table.rows[0][0].text == "random"
    assert table.rows[0][0].remark == "baseline"
    assert table.head == ("encoder", "accuracy", "takes the antonym", "takes the negation")


def test_small_subsets_say_why_they_have_no_interval():
    result = assay(["hashing"], ["opposites"], cache=None)
    layout = layouts(result)["negated_antonyms"]
    scope = Scope(result, "negated_antonyms", "opposites")
    parts = [p for p in layout.parts if type(p).__name__ == "SubsetTable"]
    pairs = subset_table(scope, parts[1])
    assert pairs.folded
    assert all(row[2].remark == "no interval under 10 units (1 here)" for row in pairs.rows)
    groups = subset_table(scope, parts[0])
    assert {row[0].text for row in groups.rows} >= {"adjective", "verb", "adverb", "negation: never"}
    assert next(row for row in groups.rows if row[0].text == "verb")[2].remark == "few units (24)"


def test_one_encoder_alone_has_no_comparisons():
    result = assay(["hashing"], ["opposites"], baselines=False, cache=None)
    layout = layouts(result)["negated_antonyms"]
    part = next(p for p in layout.parts if type(p).__name__ == "ComparisonTable")
    assert comparison_table(Scope(result, "negated_antonyms", "opposites"), part) is None


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


def test_a_verdict_names_the_best_those_not_separable_and_the_fastest():
    found = Verdict("d", "c", "accuracy", 100, 50, "a", ("a", "b"), (), 1 / 3, 0.07, ("One finding",))
    lines = list(verdict(result_of(found), found, {"a": 10.0, "b": 2000.0}))
    assert lines == [
        "Support: 100 items (7 duplicate rows) in 50 independent units, 90 distinct texts.",
        "Best: a (80.0% accuracy); not separable from it: b.",
        "Fastest of them: b (2,000 texts/s here).",
        "50 units show gaps above 7.0 points (power 80%); smaller ones may go unseen.",
        "One finding.",
    ]


def test_a_verdict_never_says_tied_or_equal_and_is_silent_on_unknown_speeds():
    found = Verdict("d", "c", "accuracy", 100, 50, "a", ("a", "b"))
    text = " ".join(verdict(result_of(found), found, {"a": 10.0}))
    assert "Fastest" not in text
    assert "tied" not in text
    assert "equal" not in text


def test_a_verdict_where_all_is_separable_and_below_chance():
    found = Verdict("d", "c", "accuracy", 100, 50, "a", ("a",), ("random",), 0.9)
    lines = list(verdict(result_of(found), found, {}))
    assert "Best: a (80.0% accuracy, below the 90.0% of chance); every other encoder is separable from it." in lines
    assert "Above it: the baseline random." in lines


def test_a_verdict_on_a_built_in_corpus_names_nobody():
    found = Verdict("d", "c", "accuracy", 100, 50)
    lines = list(verdict(result_of(found, builtin=True), found, {}))
    assert lines[1] == "A built-in corpus, for trying things out: no best model is named on it."
    assert not any("Best" in line for line in lines)
