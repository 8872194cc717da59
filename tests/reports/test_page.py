"""The HTML page: complete, escaped, self-contained; words and numbers as they should be."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from urllib.parse import unquote

import jsonschema
import pytest

from embassay.api import assay, report
from embassay.core.formatting import interval, names, number, p_value
from embassay.core.layout import (
    Column,
    ComparisonTable,
    CorpusTable,
    CountBars,
    Curves,
    EncoderTable,
    ExampleColumn,
    Examples,
    GroupedBars,
    Histograms,
    IntervalChart,
    Layout,
    Matrix,
    SeriesTable,
    SubsetTable,
)
from embassay.core.metric_key import MetricKey
from embassay.core.result import (
    Comparison,
    CorpusRecord,
    EncoderRecord,
    Finding,
    Result,
    Row,
    Series,
    Verdict,
)
from embassay.core.samples.choice import Choice
from embassay.core.samples.composition import Composition
from embassay.core.samples.minimal_pairs import MinimalPairs
from embassay.core.samples.pairs import Pair
from embassay.core.types import Corpus
from embassay.reports import charts
from embassay.reports.findings.decision import Decision
from embassay.reports.findings.limits import findings_of
from embassay.reports.findings.support import verdict, whole_run
from embassay.reports.layouts import layouts
from embassay.reports.page import render
from embassay.reports.tables import (
    Scope,
    comparison_table,
    corpus_table,
    encoder_table,
    matrix_table,
    series_table,
    subset_table,
)
from tables import Labelled

EVIL = "<script>alert('x')</script>&\"</td>"
ACCURACY = Column("accuracy", "accuracy", format="percent", margin=0.02)


@pytest.fixture(scope="module")
def evil_page(tmp_path_factory):
    samples = tuple(
        Choice(f"{n}", *(f"{EVIL} {kind}{n}" for kind in "iapq"), "adjective", f"{EVIL}pair", EVIL) for n in range(12)
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
    # The library is text until the first chart is drawn; then it runs as it is.
    scripts = re.findall(r"<script(?: type=\"text/plain\" id=\"library\")?>(.*?)</script>", evil_page, flags=re.S)
    import base64
    import hashlib

    assert len(scripts) == 3
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_the_signature_stands_under_each_table_of_figures():
    result = assay(["hashing", "bow"], ["opposites"], cache=None)
    layout = layouts(result)["negated_antonyms"]
    table = encoder_table(Scope(result, "negated_antonyms", "opposites", layout.headline.columns[0]), layout.headline)
    assert all(line.startswith("negated_antonyms@1|corpus:opposites@") for line in table.signatures)
    # Shares are signed with the encoders that the effective number is estimated from, mean cosines without.
    of_shares = [line for line in table.signatures if "|pool:" in line]
    assert len({line.split("|encoder:")[1].split("@")[0] for line in of_shares}) == len(of_shares) == 4
    assert len({line.split("|pool:")[1].split("|")[0] for line in of_shares}) == 1
    assert len(table.signatures) == 8


def test_rows_are_sorted_by_the_headline_and_baselines_are_marked():
    result = assay(["hashing", "bow"], ["opposites"], cache=None)
    layout = layouts(result)["negated_antonyms"]
    table = encoder_table(Scope(result, "negated_antonyms", "opposites", layout.headline.columns[0]), layout.headline)
    assert table.rows[0][0].text == "random"
    assert table.rows[0][0].remark == "baseline"
    assert table.head[:3] == ("encoder", "accuracy", "chosen, antonym")


def test_small_subsets_say_why_they_have_no_interval():
    result = assay(["hashing"], ["opposites"], cache=None)
    layout = layouts(result)["negated_antonyms"]
    scope = Scope(result, "negated_antonyms", "opposites", layout.headline.columns[0])
    (part,) = [p for p in layout.parts if type(p).__name__ == "SubsetTable"]
    remark = {row[0].text: row[2].remark for row in subset_table(scope, part).rows}
    assert remark["part of speech: verb"] == "few units (24)"
    assert remark["verb: lose–win"] == "no interval: 1 independent unit, 10 are needed"
    assert "negation: never" in remark


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
        (0.0004, "points", True, "0.0 points"),
        (-0.0004, "percent", True, "0.0%"),
        (None, "percent", False, "–"),
        (0.4469, "threshold", False, "0.446"),
        (9.2749, "threshold", False, "9.274"),
        # 1/63, a score of fused lists: three decimals would drop far less than is said.
        (0.015873, "threshold", False, "0.01587"),
        (-0.4461, "threshold", False, "−0.447"),
    ],
)
def test_numbers(value, style, signed, text):
    assert number(value, style, signed) == text


def test_intervals_p_values_and_lists():
    assert interval(0.014, 0.0253) == "[1.4, 2.5]"
    assert interval(None, 0.5) == ""
    assert [p_value(p) for p in (1e-4, 0.0123, 0.5, None)] == ["<0.001", "0.012", "0.50", "–"]
    assert [names(t) for t in ((), ("a",), ("a", "b"), ("a", "b", "c"))] == ["", "a", "a and b", "a, b and c"]


def result_of(found, *, builtin=False, values=None, pairs=(), **corpus):
    """A result with one corpus, and the rows that a verdict looks up."""
    values = values or {"a": 0.8, "b": 0.7}
    rows = tuple(
        Row("d", "c", name, "all", "cosine", "", "accuracy", v, v - 0.05, v + 0.05, 100, 50, 0, None, "s")
        for name, v in values.items()
    )
    encoders = tuple(EncoderRecord(n, n, n, "", 3, None, {}, False) for n in values)
    usual = {"effective_units": 50.0, "duplicates": 7, "licence": "CC0", "source": ""} | corpus
    record = CorpusRecord("c", "choice", "f", 100, 50, distinct_texts=90, builtin=builtin, **usual)
    return Result(0, 1000, encoders=encoders, corpora=(record,), rows=rows, comparisons=pairs, verdicts=(found,))


def found(**changes):
    usual = {"candidates": ("a", "b"), "best_set": ("a", "b"), "undefined_as_wrong": {"a": 0.8, "b": 0.7}}
    return Verdict(MetricKey("accuracy", diagnostic="d", corpus="c"), 100, 50, **{**usual, **changes})


def lines_of(verdict_, headline=ACCURACY, own=(), **options):
    result = result_of(verdict_, **options)
    decided = Decision(result, verdict_, headline).findings() if verdict_.metric else ()
    findings = (*decided, *own)
    return list(verdict(replace(result, findings=findings), verdict_))


ONE = Finding("low", "One finding.", "One", diagnostic="d", corpus="c")


def pair(a, b, difference, p=None, **more):
    key = MetricKey("accuracy", "all", "cosine", "", "d", "c")
    ends = {"low": difference - 0.1, "high": difference + 0.1}
    return Comparison(**vars(key), a=a, b=b, difference=difference, **ends, p_holm=p, family="models", **more)


def test_a_verdict_names_the_one_to_use_what_instead_and_what_not():
    """The highest of equal cost is used; another within 5 points costs as much, and no test decides."""
    apart = pair("a", "c", 0.3, 0.001, items=100, won=40, lost=10)
    near = pair("a", "b", 0.03, 0.4, items=100, won=9, lost=6, smallest_difference=0.07, target=0.04, items_needed=300)
    given = found(candidates=("a", "b", "c"), chance=1 / 3, effective_items=60.4)
    assert lines_of(given, own=[ONE], pairs=(near, apart), values={"a": 0.8, "b": 0.77, "c": 0.5}) == [
        "Support: 100 items (7 duplicate rows) in 50 independent units (they count as 60), 90 distinct texts.",
        "Use: a. 80.0% [75.0, 85.0] accuracy.",
        "Undecided: b: 3.0 points lower [−13.0, +7.0] (6 won, 9 lost).",
        "Not: c: 30.0 points lower [−40.0, −20.0] (10 won, 40 lost).",
        "Data: A true difference of 7.0 points between a and b would be detected 80% of the time; 4 points need about "
        "300 items.",
        "One finding.",
    ]


def test_below_chance_none_is_to_be_used():
    lines = lines_of(found(chance=0.9))
    assert lines[1] == "Use: None of them: the highest value is a. 80.0% [75.0, 85.0] accuracy, below chance (90.0%)."
    # A value below chance whose interval is not.
    assert "below" not in lines_of(found(chance=0.82))[1]


def test_one_encoder_alone_and_none_at_all():
    assert lines_of(found(candidates=("a",), best_set=("a",)), values={"a": 0.8})[1:] == [
        "Use: a. 80.0% [75.0, 85.0] accuracy."
    ]
    nobody = {"candidates": (), "best_set": ()}
    assert lines_of(found(**nobody))[1] == "The run has only baselines. Add an encoder with -e."


def test_texts_that_were_cut_are_said():
    result = result_of(found())
    cut = replace(result.encoders[0], max_tokens=256, truncated_in={"c": 4}, texts_in={"c": 90})
    result = replace(result, encoders=(cut, *result.encoders[1:]), verdicts=())
    (line,) = whole_run(replace(result, findings=findings_of(result, {})))
    assert line.startswith("a reads 256 tokens of a text: it truncates 4 of the 90 texts of c (4.4%).")


def test_a_verdict_on_a_built_in_corpus_names_nobody():
    lines = lines_of(found(best_set=()), builtin=True)
    assert lines[1:] == ["Built-in corpora are for trying things out: no best model is named."]


def test_duplicate_rows_are_counted_in_words():
    assert "(1 duplicate row)" in lines_of(found(), duplicates=1)[0]
    assert "duplicate" not in lines_of(found(), duplicates=0)[0]


def test_what_dependent_items_count_as_is_said_once_where_it_is_less():
    assert lines_of(found(effective_items=24.9), duplicates=0)[0] == (
        "Support: 100 items in 50 independent units (they count as 25), 90 distinct texts."
    )
    for changes in ({"effective_items": 99.6}, {"effective_items": 24.9, "reason": "few"}, {}):
        assert "count as" not in lines_of(found(**changes))[0]


def test_the_source_of_a_corpus_is_said():
    line = lines_of(found(), source="hand-written", duplicates=0)[0]
    assert line == "Support: 100 items in 50 independent units, 90 distinct texts. Source: hand-written."


def test_a_diagnostic_of_texts_counts_texts():
    given = Verdict(MetricKey("", diagnostic="d", corpus="c"), 90, 90, candidates=("a",))
    assert lines_of(given, own=[ONE], source="hand-written") == [
        "Support: 90 distinct texts. Source: hand-written.",
        "This diagnostic does not rank encoders.",
        "One finding.",
    ]


def test_where_nobody_is_ranked_no_best_is_named_and_nobody_is_missed():
    given = Verdict(MetricKey("", diagnostic="d", corpus="c"), 100, 50, candidates=("a", "b"))
    for builtin in (False, True):
        text = " ".join(lines_of(given, own=[ONE], builtin=builtin))
        assert "This diagnostic does not rank encoders." in text
        assert text.endswith(" One finding.")
        for word in ("Use:", "best model", "Undefined", "Only baselines", "detected"):
            assert word not in text


def test_a_headline_in_points_and_in_numbers():
    points = Column("C1 − null", "accuracy", format="points", margin=0.02)
    given, figures, pairs = found(), {"a": 0.123, "b": -0.1}, (pair("a", "b", 0.223, 0.01),)
    lines = lines_of(given, headline=points, values=figures, pairs=pairs)
    assert lines[1].startswith("Use: a. +12.3 points [7.3, 17.3] C1 − null.")
    assert lines[2].startswith("Not: b: 22.3 points lower [−32.3, −12.3].")
    # Where higher is not better, the highest is said, and it recommends nobody.
    numbers = Column("synonym − negation", "accuracy", format="number", margin=0.02)
    lines = lines_of(replace(given, undefined_as_wrong={}), headline=numbers, values={"a": 0.2, "b": -0.1}, pairs=pairs)
    assert lines[1].startswith("Highest: a. 0.200 [0.150, 0.250] synonym − negation. b: 0.223 lower [−0.323, −0.123].")
    assert not any(line.startswith("Use") for line in lines)


# --- each part of a layout -------------------------------------------------------------------------------


SCHEMA = json.loads(files("altair.vegalite.v6.schema").joinpath("vega-lite-schema.json").read_text(encoding="utf-8"))
VALID = jsonschema.Draft7Validator(SCHEMA)


def row_of(encoder, metric="accuracy", subset="all", value=0.5, condition="", similarity_function="cosine", **changes):
    usual = {"low": 0.25, "high": 0.75, "items": 40, "units": 40, "undefined": 0, "reason": None, "diagnostic": "d"}
    usual |= {"corpus": "c", "signature": f"{encoder}-{metric}-{subset}-{condition}-{similarity_function}", **changes}
    return Row(
        encoder=encoder,
        subset=subset,
        similarity_function=similarity_function,
        condition=condition,
        metric=metric,
        value=value,
        **usual,
    )


def small(rows=(), series=(), baselines=("z",), encoders=("a", "b", "z"), **more):
    """A result of three encoders, one of which joined as a baseline."""
    records = tuple(EncoderRecord(n, n, n, "", 3, None, {}, n in baselines) for n in encoders)
    corpus = CorpusRecord("c", "choice", "f", 40, 40, 40.0, 0, 90, "CC0", "", False)
    found = Verdict(
        MetricKey("", diagnostic="d", corpus="c"), 40, 40, candidates=tuple(n for n in encoders if n not in baselines)
    )
    return Result(
        0, 10, encoders=records, corpora=(corpus,), rows=tuple(rows), series=tuple(series), verdicts=(found,), **more
    )


def scope_of(result):
    return Scope(result, "d", "c", ACCURACY)


LEVEL = {"a": 0.2, "b": 0.8, "z": 0.5}
HEADLINES = [row_of(e, value=v) for e, v in LEVEL.items()]
CURVE = Series(
    "d",
    "c",
    "curve",
    "curve",
    {
        "x": "cosine",
        "y": "density",
        "at": [0.0, 0.5, 1.0],
        "lines": [{"encoder": e, "line": line, "y": [0.1, None, 0.3]} for e in "abz" for line in ("own", "null")],
    },
)
HISTOGRAM = Series(
    "d",
    "c",
    "histogram",
    "histogram",
    {
        "x": "angle",
        "edges": [0.0, 0.5, 1.0],
        "panels": [{"encoder": e, "line": line, "shares": [0.25, 0.75]} for e in "abz" for line in ("A", "B")],
    },
)
MATRIX = Series(
    "d",
    "c",
    "matrix",
    "matrix",
    {
        "names": ["a", "b", "z"],
        "numerator": [[1200, 3, 0], [3, 7, 0], [0, 0, 2]],
        "denominator": [[1200, 7, 0], [7, 7, 2], [0, 2, 2]],
        "diagonal": "errors",
        "note": "On 40 sentences.",
        "signatures": ["one", "two"],
    },
)


def data_of(spec):
    """Everything that the charts of a specification draw."""
    parts = [spec, *spec.get("layer", [])]
    rows = [row for part in parts for row in part.get("data", {}).get("values", [])]
    for transform in spec.get("transform", []):
        fields = transform["flatten"]
        rows = [
            {**row, **dict(zip(fields, values, strict=True))}
            for row in rows
            for values in zip(*(row[field] for field in fields), strict=True)
        ]
    return rows


def assert_valid(spec):
    assert isinstance(spec, dict)
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/v6")
    assert [e.message[:200] for e in VALID.iter_errors(spec)] == []
    json.dumps(spec, allow_nan=False)


def test_the_oracle_of_valid_charts_refuses_what_is_none():
    spec = charts.interval_chart(scope_of(small(HEADLINES)), IntervalChart("t", ACCURACY))
    spec["layer"][0]["mark"] = {"type": "no such mark"}
    assert not VALID.is_valid(spec)


@pytest.mark.parametrize("style", ["percent", "points", "number"])
def test_an_interval_chart_has_a_dot_for_each_encoder(style):
    part = IntervalChart("How much", Column("much", "accuracy", format=style), chance=1 / 3)
    spec = charts.interval_chart(scope_of(small(HEADLINES)), part)
    assert_valid(spec)
    assert {
        (r["encoder"], r["value"], r["low"], r["high"], r["baseline"]) for r in data_of(spec) if "encoder" in r
    } == {(e, v, 0.25, 0.75, e == "z") for e, v in LEVEL.items()}
    assert {"chance": 1 / 3} in data_of(spec)


def test_the_picture_of_the_headline_marks_the_best_set_and_the_baseline():
    result = small(HEADLINES)
    verdict = replace(result.verdicts[0], best_set=("b",), baseline="z")
    scope = scope_of(replace(result, verdicts=(verdict,)))
    spec = charts.interval_chart(scope, IntervalChart("How much", ACCURACY))
    assert_valid(spec)
    shaded, line, *_ = spec["layer"]
    assert (shaded["mark"]["type"], shaded["data"]["values"]) == ("rect", [{"encoder": "b"}])
    assert (line["mark"]["type"], line["data"]["values"]) == ("rule", [{"value": LEVEL["z"]}])
    # A chart of another figure has neither.
    other = charts.interval_chart(scope, IntervalChart("How much", replace(ACCURACY, subset="x")))
    assert other is None or all(layer["mark"]["type"] != "rect" for layer in other["layer"])


def test_grouped_bars_have_one_bar_for_each_subset_and_encoder():
    rows = [row_of(e, "similarity", s, v) for e, v in LEVEL.items() for s in ("synonym", "typo")]
    rows += [row_of("a", "similarity", "antonym", None, low=None, high=None, reason="undefined for every item")]
    parts = (("typo", "a typo"), ("antonym", "an antonym"), ("missing", "none"), ("synonym", "a synonym"))
    ((_, spec),) = charts.grouped_bars(scope_of(small(HEADLINES + rows)), GroupedBars("Edits", "similarity", parts))
    assert_valid(spec)
    assert {(r["subset"], r["encoder"], r["value"]) for r in data_of(spec)} == {
        (s, e, v) for e, v in LEVEL.items() for s in ("a synonym", "a typo")
    }
    bars = spec["layer"][0]["encoding"]
    assert bars["y"]["sort"] == ["a typo", "a synonym"]
    assert bars["yOffset"]["sort"] == ["b", "z", "a"], "in the order of the headline figure"
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["bar", "rule"]


def test_bars_stand_in_blocks_of_the_groups_that_a_table_names():
    rows = [row_of(e, "similarity", "typo", v) for e, v in LEVEL.items()]
    lines = [["paraphrases", "a", 0.1], ["paraphrases", "mean of 1", 0.1], ["questions", "z", 0.2], ["gone", "y", 0.3]]
    data = {"columns": ("fine-tuned on", "encoder", "typo"), "formats": ("text", "text", "number"), "rows": lines}
    scope = scope_of(small(HEADLINES + rows, series=[Series("d", "c", "groups", "table", data)]))
    part = GroupedBars("Edits", "similarity", (("typo", "a typo"),), blocks="groups")
    blocks = dict(charts.grouped_bars(scope, part))
    assert {group: [r["encoder"] for r in data_of(spec)] for group, spec in blocks.items()} == {
        "paraphrases": ["a"],
        "questions": ["z"],
        "": ["b"],
    }
    assert_valid(blocks["questions"])


@pytest.mark.parametrize("by", ["", "kind"])
def test_count_bars_have_one_bar_for_each_line_of_the_table(by):
    data = {
        "columns": ("kind", "size", "groups"),
        "formats": ("text", "count", "count"),
        "rows": [["a", 3, 240], ["a", 4, 31], ["b", 3, 5]],
    }
    scope = scope_of(small(HEADLINES, [Series("d", "c", "sizes", "table", data)]))
    spec = charts.count_bars(scope, CountBars("Sizes", "sizes", "size", "groups", by))
    assert_valid(spec)
    assert [tuple(value.values()) for value in data_of(spec)] == [("a", 3, 240), ("a", 4, 31), ("b", 3, 5)]
    assert ("xOffset" in spec["encoding"]) is bool(by)


def test_curves_in_one_picture_have_encoders_by_colour_and_kinds_by_dashes():
    ((caption, spec),) = charts.curves(scope_of(small(HEADLINES, [CURVE])), Curves("Lines", "curve"))
    assert caption == ""
    assert_valid(spec)
    assert {r["encoder"] for r in data_of(spec)} == {"a", "b", "z"}
    assert [(r["x"], r["y"]) for r in data_of(spec)][:3] == [(0, 0.1), (0.5, None), (1, 0.3)]
    encoding = spec["encoding"]
    assert encoding["color"]["field"] == "encoder"
    assert encoding["color"]["scale"]["domain"] == ["b", "z", "a"]
    assert encoding["strokeDash"]["scale"]["domain"] == ["own", "null"]
    assert encoding["x"]["title"] == "cosine"


def test_the_legend_of_curves_names_those_that_have_one_and_the_axis_may_start_above_0():
    data = {**CURVE.data, "lines": [{"encoder": "a", "line": "own", "y": [0.7, 0.72, 0.71]}]}
    scope = scope_of(small(HEADLINES, [replace(CURVE, data=data)]))
    ((_, spec),) = charts.curves(scope, Curves("Lines", "curve", zero=False))
    assert_valid(spec)
    encoding = spec["encoding"]
    assert encoding["color"]["legend"] == encoding["strokeDash"]["legend"]
    assert encoding["color"]["legend"]["values"] == ["a"]
    # Its colour is that of the other charts.
    assert encoding["color"]["scale"]["domain"] == ["b", "z", "a"]
    assert encoding["y"]["scale"] == {"zero": False}


def test_split_curves_have_one_picture_for_each_encoder_asked_for():
    found = list(charts.curves(scope_of(small(HEADLINES, [CURVE])), Curves("Lines", "curve", split=True)))
    assert [caption for caption, _ in found] == ["b", "a"]
    for caption, spec in found:
        assert_valid(spec)
        assert {r["encoder"] for r in data_of(spec)} == {caption}
        assert spec["description"] == f"Lines, {caption}"
        assert spec["encoding"]["color"]["field"] == "line"
        assert spec["encoding"]["color"]["scale"]["domain"] == ["own", "null"]


@pytest.mark.parametrize("count", [8, 9, 32, 70])
def test_no_two_of_many_encoders_have_the_same_colour(count):
    colours = charts.distinct_colours(charts.LINES, count)
    assert len(colours) == len(set(colours)) == count
    assert colours[:8] == list(charts.LINES)


def test_more_encoders_than_colours_differ_by_dashes_too():
    names = tuple(f"e{n}" for n in range(12))
    rows = [row_of(name, value=n / 20) for n, name in enumerate(names)]
    data = {**CURVE.data, "lines": [{"encoder": name, "line": "own", "y": [0.1, 0.2, 0.3]} for name in names]}
    result = small(rows, [replace(CURVE, data=data)], encoders=names, baselines=())
    ((_, spec),) = charts.curves(scope_of(result), Curves("Lines", "curve"))
    assert_valid(spec)
    colour, dash = spec["encoding"]["color"]["scale"], spec["encoding"]["strokeDash"]["scale"]
    styles = {(c, tuple(d)) for c, d in zip(colour["range"], dash["range"], strict=True)}
    assert len(styles) == 12


def test_histograms_have_one_picture_for_each_encoder_asked_for():
    found = list(charts.histograms(scope_of(small(HEADLINES, [HISTOGRAM])), Histograms("Angles", "histogram")))
    assert [caption for caption, _ in found] == ["b", "a"]
    for caption, spec in found:
        assert_valid(spec)
        assert spec["description"] == f"Angles, {caption}"
        assert data_of(spec) == [
            {"line": line, "low": low, "high": low + 0.5, "share": share}
            for line in "AB"
            for low, share in ((0.0, 0.25), (0.5, 0.75))
        ]


@pytest.mark.parametrize(
    ("draw", "part"),
    [(charts.curves, Curves("Lines", "curve", split=True)), (charts.histograms, Histograms("Angles", "histogram"))],
)
def test_baselines_have_pictures_where_nothing_else_was_asked_for(draw, part):
    result = small(HEADLINES, [CURVE, HISTOGRAM], baselines=("a", "b", "z"))
    assert [caption for caption, _ in draw(scope_of(result), part)] == ["b", "z", "a"]


def test_a_matrix_is_a_table_of_fractions_shaded_by_their_share():
    table = matrix_table(scope_of(small(HEADLINES, [MATRIX])), Matrix("Errors", "matrix", note="A note."))
    assert table.head == ("encoder", "b", "z", "a"), "in the order of the headline figure"
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["b", "7", "0/2", "3/7"],
        ["z", "0/2", "2", "–"],
        ["a", "3/7", "–", "1,200"],
    ]
    assert [[cell.shade for cell in row[1:]] for row in table.rows] == [
        [None, 0.0, 3 / 7],
        [0.0, None, None],
        [3 / 7, None, None],
    ]
    assert [row[n + 1].remark for n, row in enumerate(table.rows)] == ["errors"] * 3
    assert table.rows[1][0].remark == "baseline"
    assert (table.note, table.signatures) == ("A note. On 40 sentences.", ("one", "two"))


def test_one_encoder_alone_makes_no_matrix():
    alone = replace(MATRIX, data={**MATRIX.data, "names": ["a"], "numerator": [[1]], "denominator": [[1]]})
    assert matrix_table(scope_of(small(HEADLINES, [alone])), Matrix("Errors", "matrix")) is None


def test_a_matrix_on_the_page_is_an_accessible_table_with_shaded_cells():
    layout = Layout("T", "Q?", EncoderTable("Head", (ACCURACY,)), (Matrix("Errors", "matrix"),), "A source")
    page = render(small(HEADLINES, [MATRIX]), {"d": layout})
    table = page.split("<summary>Errors</summary>")[1].split("</details>")[0]
    assert '<div class="scroll" tabindex="0" role="group" aria-label="Errors">' in table
    assert table.count('<td class="s4">3/7') == 2
    assert table.count("<th scope=row>") == 3
    assert "<td>1,200<sup>1</sup>" in table
    assert '<ol class="footnotes"><li>errors</li></ol>' in table


def test_more_lines_than_colours_are_drawn_all_the_same():
    lines = [{"encoder": "a", "line": f"line {n}", "y": [0.1, 0.2, 0.3]} for n in range(20)]
    many = replace(CURVE, data={**CURVE.data, "lines": lines})
    ((_, spec),) = charts.curves(scope_of(small(HEADLINES, [many])), Curves("Lines", "curve", split=True))
    assert_valid(spec)
    assert len({r["line"] for r in data_of(spec)}) == 20


PARTS = (
    EncoderTable("Table", (Column("x", "nothing"),)),
    EncoderTable("Table", (Column("x", "nothing"),), similarity_functions=("cosine", "l1")),
    CorpusTable("Corpus", (Column("x", "nothing"),)),
    SubsetTable("Subsets", "nothing", ("part",)),
    ComparisonTable("Comparisons", Column("x", "nothing")),
    SeriesTable("Series", "nothing"),
    IntervalChart("Intervals", Column("x", "nothing")),
    GroupedBars("Groups", "nothing", (("s", "label"),)),
    Curves("Lines", "nothing"),
    Curves("Lines, split", "nothing", split=True),
    Histograms("Histograms", "nothing"),
    Matrix("Matrix", "nothing"),
    CountBars("Counts", "nothing", "size", "groups"),
    Examples("Examples", "a", (("a", "label"),), (ExampleColumn("values", ("v",)),)),
)


@pytest.mark.parametrize("rows", [(), HEADLINES], ids=["empty", "other rows only"])
def test_a_part_without_figures_is_left_out(rows):
    layout = Layout("T", "Q?", EncoderTable("Head", (ACCURACY,)), PARTS, "A source")
    page = render(small(rows), {"d": layout})
    headings = re.findall(r"<h3>(.*?)</h3>", page)
    assert headings == (["Head"] if rows else [])
    assert "Paper" not in re.findall(r"<summary>(.*?)</summary>", page)
    assert "<figure" not in page


def test_an_encoder_table_with_measures_has_a_line_for_each():
    rows = [
        row_of(e, "share", value=v / n, similarity_function=m, low=None, high=None)
        for e, v in LEVEL.items()
        for n, m in enumerate(("cosine", "l1"), 1)
    ]
    columns = (Column("C1", "share", format="percent"), Column("absent", "nothing"))
    table = encoder_table(
        scope_of(small(HEADLINES + rows)), EncoderTable("T", columns, similarity_functions=("cosine", "l1"))
    )
    assert table.head == ("encoder", "similarity_function", "C1")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["b", "cosine", "80.0%"],
        ["b", "l1", "40.0%"],
        ["z", "cosine", "50.0%"],
        ["z", "l1", "25.0%"],
        ["a", "cosine", "20.0%"],
        ["a", "l1", "10.0%"],
    ]
    assert [row[0].remark for row in table.rows] == ["", "", "baseline", "baseline", "", ""]
    assert set(table.signatures) == {r.signature for r in rows}


def test_a_measure_that_an_encoder_lacks_is_a_dash():
    rows = [row_of("a", "share", similarity_function="cosine"), row_of("b", "share", similarity_function="l1")]
    table = encoder_table(
        scope_of(small(rows, encoders=("a", "b"))),
        EncoderTable("T", (Column("C1", "share", format="percent"),), similarity_functions=("cosine", "l1")),
    )
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["a", "cosine", "50.0%"],
        ["a", "l1", "–"],
        ["b", "cosine", "–"],
        ["b", "l1", "50.0%"],
    ]


def test_a_corpus_table_has_a_line_for_each_subset_and_no_encoder():
    rows = [
        row_of("", "rating", "overlap", 3.25, similarity_function="rating", low=3.0, high=3.5, items=400),
        row_of("", "agreement", "overlap", 0.5, similarity_function="rating", low=None, high=None, items=390),
        row_of("", "rating", "set_difference", None, low=None, high=None, items=0, reason="no ratings"),
        row_of("a", "rating", "not of the corpus"),
    ]
    columns = (Column("mean", "rating", format="number"), Column("agreement", "agreement", format="number"))
    table = corpus_table(scope_of(small(HEADLINES + rows)), CorpusTable("Ratings", columns, note="Said."))
    assert table.head == ("subset", "items", "mean", "agreement")
    assert [[(cell.text, cell.interval, cell.remark) for cell in row] for row in table.rows] == [
        [("overlap", "", ""), ("400", "", ""), ("3.250", "[3.000, 3.500]", ""), ("0.500", "", "")],
        [("set difference", "", ""), ("0", "", ""), ("–", "", "no ratings"), ("–", "", "")],
    ]
    assert table.note == "Said."
    assert set(table.signatures) == {r.signature for r in rows[:3]}


def test_points_are_named_in_the_heading_and_not_in_the_cells():
    rows = [row_of(e, "gap", value=v - 0.5, low=-0.5, high=0.125) for e, v in LEVEL.items()]
    columns = (Column("C1 − null", "gap", format="points"), ACCURACY)
    table = encoder_table(scope_of(small(HEADLINES + rows)), EncoderTable("T", columns))
    assert table.head == ("encoder", "C1 − null, points", "accuracy")
    assert [(row[1].text, row[1].interval) for row in table.rows] == [
        ("+30.0", "[−50.0, +12.5]"),
        ("0.0", "[−50.0, +12.5]"),
        ("−30.0", "[−50.0, +12.5]"),
    ]
    assert all(table.numeric[1:])


def test_a_column_can_leave_its_interval_out():
    columns = (replace(ACCURACY, interval=False),)
    table = encoder_table(scope_of(small(HEADLINES)), EncoderTable("T", columns))
    assert {row[1].interval for row in table.rows} == {""}


@pytest.mark.parametrize(
    ("style", "written", "family", "question"),
    [
        ("percent", "+12.5 points", "main", "reference and baseline"),
        ("points", "+12.5 points", "models", "two models"),
        ("number", "+0.125", "all", "on request"),
    ],
)
def test_differences_are_written_like_their_column(style, written, family, question):
    figures = (0.125, 0.1, 0.2, 1e-4, 3e-4, 3, 40, 40)
    difference = Comparison("d", "c", "all", "cosine", "", "accuracy", "b", "a", *figures, family)
    result = small(HEADLINES, comparisons=(difference,))
    table = comparison_table(scope_of(result), ComparisonTable("T", replace(ACCURACY, format=style)))
    (cells,) = table.rows
    assert [cell.text for cell in cells] == ["b − a", question, written, "<0.001", "<0.001", "40"]
    assert cells[4].strong


@pytest.mark.parametrize(("p", "strong"), [(0.05, True), (0.0501, False), (None, False)])
def test_a_difference_stands_out_where_the_corrected_p_is_at_most_5_percent(p, strong):
    difference = Comparison("d", "c", "all", "cosine", "", "accuracy", "b", "a", 0.1, None, None, p, p, 1, 40, 40)
    table = comparison_table(scope_of(small(HEADLINES, comparisons=(difference,))), ComparisonTable("T", ACCURACY))
    assert table.rows[0][4].strong is strong


def test_a_series_table_writes_each_column_in_its_format():
    data = {
        "columns": ("name", "n", "share", "gap", "distance", "length"),
        "formats": ("text", "count", "percent", "points", "number", "decimal"),
        "rows": [["x", 1234, 0.125, -0.05, 0.5422, 12.15], ["y", None, None, None, None, None]],
        "source": "somewhere",
    }
    result = small(HEADLINES, [Series("d", "c", "t", "table", data)])
    table = series_table(scope_of(result), SeriesTable("T", "t", note="Said."))
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["x", "1,234", "12.5%", "−5.00 points", "0.54", "12.2"],
        ["y", "–", "–", "–", "–", "–"],
    ]
    assert table.note == "Said. Source: somewhere."


def test_the_page_of_minimal_pairs_without_antonyms_is_whole(tmp_path):
    samples = tuple(
        MinimalPairs(f"{n}", f"It is {n}", (("synonym", f"They lay {n}"), ("negation_main", f"It is not {n}")))
        for n in range(12)
    )
    corpus = Corpus("mine", "minimal_pairs", samples)
    result = assay(["hashing"], [corpus], ["minimal_pairs"], cache=None, baselines=False, resamples=20)
    assert len(result.examples) > 0
    assert "Item by item" in report(result, tmp_path / "r.html").read_text(encoding="utf-8")


# --- hostile text in every diagnostic --------------------------------------------------------------------


IMPLIED = {
    "td": ("td", "th"),
    "th": ("td", "th"),
    "tr": ("td", "th", "tr"),
    "tbody": ("td", "th", "tr", "thead", "tbody"),
}
"""What a tag ends by itself in HTML."""


class Page(HTMLParser):
    """The elements of a page with their text: what a browser would make of it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for end in IMPLIED.get(tag, ()):
            if self.open[-1][0] == end:
                self.open.pop()
        self.found.append((tag, dict(attrs), []))
        if tag not in ("meta", "input"):
            self.open.append(self.found[-1])

    def handle_endtag(self, tag):
        if tag == "table":
            for end in IMPLIED["tbody"]:
                if self.open[-1][0] == end:
                    self.open.pop()
        assert self.open.pop()[0] == tag, "elements are closed in the order in which they are opened"

    def handle_data(self, data):
        for _, _, text in self.open:
            text.append(data)

    def texts(self, tag):
        return ["".join(text).strip() for name, _, text in self.found if name == tag]

    def attributes(self, tag, name):
        return [attrs.get(name) for found, attrs, _ in self.found if found == tag]


def evil_corpora():
    edits = ("synonym", "antonym", "typo", "random_mlm", "negation_main", "negation_antonym")
    pairs = [Pair(f"{n}", f"{EVIL} a{n}", f"{EVIL} b{n}", float(n), f"{EVIL}{n % 2}") for n in range(12)]
    minimal = [
        MinimalPairs(f"{n}", f"{EVIL} one two {n}", tuple((e, f"{EVIL} {k} two {n}") for k, e in enumerate(edits)))
        for n in range(12)
    ]
    sets = [
        Composition(f"{n}{operator}", operator, f"{EVIL} {operator} a{n}", f"{EVIL} b{n}", f"{EVIL} t{n}", f"g{n}")
        for n in range(12)
        for operator in ("overlap", "difference", "union")
    ]
    shapes = {"pairs": pairs, "minimal_pairs": minimal, "composition": sets}
    return [Corpus(f"{EVIL}{s}", s, tuple(samples), licence=EVIL, source=EVIL) for s, samples in shapes.items()]


@pytest.fixture(scope="module")
def evil_pages(tmp_path_factory):
    result = assay([Labelled(f"{EVIL}label")], evil_corpora(), cache=None, resamples=20)
    text = report(result, tmp_path_factory.mktemp("evil") / "r.html").read_text(encoding="utf-8")
    return result, text, Page(text)


def test_hostile_text_opens_and_closes_nothing(evil_pages):
    _, text, page = evil_pages
    assert "<script>alert" not in text
    assert page.open == []
    kinds = page.attributes("script", "type")
    assert set(kinds) == {"application/json", "text/plain", None}
    assert kinds.count("text/plain") == 1, "the library"
    assert kinds.count(None) == 2, "the page's own two scripts"


def test_hostile_text_is_read_as_it_was_in_headings_and_captions(evil_pages):
    result, _, page = evil_pages
    titles = page.texts("h2")
    for corpus in result.corpora:
        assert any(title.endswith(f" on {corpus.name}") for title in titles)
    captions = [caption for caption in page.texts("figcaption") if ", over " not in caption]
    assert set(captions) == {f"{EVIL}label"}
    assert len(captions) >= 5, "densities, angles, positions and norms"
    labels = page.attributes("figure", "aria-label")
    assert sum(label.endswith(f", {EVIL}label") for label in labels) == len(captions)
    assert any(f"subset:{EVIL}0" in text for text in page.texts("th"))


def test_hostile_text_is_read_as_it_was_in_the_charts(evil_pages):
    _, _, page = evil_pages
    specs = [
        json.loads("".join(text))
        for tag, attrs, text in page.found
        if (tag, attrs.get("type"), attrs.get("class")) == ("script", "application/json", None)
    ]
    assert len(specs) == len(page.texts("figure")) > 10
    for spec in specs:
        assert_valid(spec)
    assert {r["encoder"] for spec in specs for r in data_of(spec) if "encoder" in r} == {
        f"{EVIL}label",
        "tfidf",
        "random",
    }


def test_no_picture_is_of_a_baseline(evil_pages):
    _, _, page = evil_pages
    assert not {"tfidf", "random"} & set(page.texts("figcaption"))
    assert not any(label.endswith((", tfidf", ", random")) for label in page.attributes("figure", "aria-label"))


def test_sections_of_several_diagnostics_have_anchors_of_their_own(evil_pages):
    result, _, page = evil_pages
    anchors = page.attributes("section", "id")
    expected = [f"{found.diagnostic}-{found.corpus}" for found in result.verdicts]
    assert [name for name in map(unquote, anchors) if name in expected] == expected
    ids = [attrs["id"] for _, attrs, _ in page.found if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = page.attributes("a", "href")
    assert {link.removeprefix("#") for link in links} <= set(ids), "each link leads somewhere"
    assert {f"#{unquoted}" for unquoted in anchors if unquote(unquoted) in expected} <= set(links)
