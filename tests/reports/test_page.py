"""The HTML page: complete, escaped, self-contained; words and numbers as they should be."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import jsonschema
import pytest

from embassay.api import assay, report
from embassay.core.formatting import interval, names, number, p_value
from embassay.core.layout import (
    Column,
    ComparisonTable,
    CorpusTable,
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
    CorpusRecord,
    EncoderRecord,
    Result,
    Row,
    Series,
    Verdict,
)
from embassay.core.samples.shapes import Composition, MinimalPairs, Pair
from embassay.core.types import Corpus
from embassay.reports import charts
from embassay.reports.page import render
from embassay.reports.tables import (
    Scope,
    corpus_table,
    encoder_table,
    matrix_table,
    series_table,
)
from tables import Labelled

EVIL = "<script>alert('x')</script>&\"</td>"
ACCURACY = Column("accuracy", "accuracy", format="percent", margin=0.02)


def test_nothing_is_loaded_from_elsewhere(evil_pages):
    _, text, _ = evil_pages
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", outside)
    assert "default-src 'none'" in text
    assert "unsafe-eval" not in text.split("</head>")[0]


def test_every_script_that_runs_is_named_by_its_hash(evil_pages):
    _, text, _ = evil_pages
    policy = re.search(r"script-src ([^\"]*)", text).group(1)
    # The library is text until the first chart is drawn; then it runs as it is.
    scripts = re.findall(r"<script(?: type=\"text/plain\" id=\"library\")?>(.*?)</script>", text, flags=re.S)
    assert len(scripts) == 3
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


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
    records = tuple(EncoderRecord(n, name=n, fingerprint=n, dim=3, baseline=n in baselines) for n in encoders)
    corpus = CorpusRecord(
        name="c",
        shape="choice",
        fingerprint="f",
        items=40,
        units=40,
        effective_units=40.0,
        duplicates=0,
        distinct_texts=90,
        licence="CC0",
        source="",
        builtin=False,
    )
    found = Verdict(
        **vars(MetricKey("", diagnostic="d", corpus="c")),
        items=40,
        units=40,
        candidates=tuple(n for n in encoders if n not in baselines),
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


@pytest.mark.parametrize("style", ["percent", "points", "number"])
def test_an_interval_chart_has_a_dot_for_each_encoder(style):
    part = IntervalChart("How much", Column("much", "accuracy", format=style), chance=1 / 3)
    ((_, spec),) = charts.interval_chart(scope_of(small(HEADLINES)), part)
    assert_valid(spec)
    assert {
        (r["encoder"], r["value"], r["low"], r["high"], r["baseline"]) for r in data_of(spec) if "encoder" in r
    } == {(e, v, 0.25, 0.75, e == "z") for e, v in LEVEL.items()}
    assert {"chance": 1 / 3} in data_of(spec)


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
    assert table.note == "A note. On 40 sentences."


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


def test_hostile_text_is_read_as_it_was_in_the_charts(evil_pages):
    _, _, page = evil_pages
    specs = [
        json.loads("".join(text))
        for tag, attrs, text in page.found
        if (tag, attrs.get("type"), attrs.get("class")) == ("script", "application/json", None)
    ]
    assert len(specs) == len(page.texts("figure")) > 4
    for spec in specs:
        assert_valid(spec)
    assert {r["encoder"] for spec in specs for r in data_of(spec) if "encoder" in r} == {
        f"{EVIL}label",
        "tfidf",
        "random",
    }
