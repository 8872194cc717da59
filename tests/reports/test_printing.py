"""Figures for print: whole, readable without colour, with any label as text, and one file each."""

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise

import pytest

from embassay.api import assay
from embassay.cli.app import exit_code_of
from embassay.encoders.lexical.hashing import HashingEncoder
from embassay.reports import latex, printing
from embassay.reports.exhibits import printed_figures
from embassay.result import EncoderRecord, Result, Series, Verdict
from embassay.run import paper
from embassay.run.pages import layouts
from embassay.run.paper import citations_of
from embassay.samples.choice import Choice
from embassay.types import Corpus

EVIL = "<script>alert(1)</script>&\"'</text>\n%{x}\\input{y}"


class Labelled(HashingEncoder):
    """A hashing encoder under any name."""

    def __init__(self, name):
        super().__init__(64, name)


def figures_of(result):
    return {figure.name: figure for figure in printed_figures(result, layouts(result), citations_of(result))}


def layers(spec):
    return spec.get("layer", [spec])


@pytest.fixture(scope="module")
def every_figure():
    """The figures of a run on all built-in shapes that have some."""
    result = assay(["bow", "hashing"], ["opposites", "paraphrases", "edits", "vignettes", "handbook"], cache=None)
    return figures_of(result)


def lightness(colour):
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 2.55


def test_shades_can_be_told_apart_without_colour():
    bars = list(map(lightness, printing.BARS))
    # Bars have black edges, so that neighbours need only differ a little; lines must be seen on white.
    assert all(abs(a - b) >= 15 for a, b in pairwise(bars))
    assert all(lightness(colour) < 60 for colour in printing.LINES)
    assert len(set(printing.LINES)) == len(set(printing.SHAPES)) == 8


def test_every_chart_of_the_page_is_made_for_print(every_figure):
    assert len(every_figure) > 20
    for figure in every_figure.values():
        before = repr(figure.spec)
        spec = printing.for_print(figure.spec)
        assert repr(figure.spec) == before, "the chart of the page is not changed"
        assert (spec["width"], spec["background"]) == (printing.WIDTH, "white")
        for layer in layers(spec):
            assert "tooltip" not in layer["encoding"]
            colour = layer["encoding"].get("color", {})
            if "field" in colour and colour["type"] == "nominal":
                mark = layer["mark"]["type"]
                told_by = {"bar": "stroke", "line": "strokeDash", "point": "shape", "rule": "strokeDash"}[mark]
                assert told_by in layer["encoding"] or told_by in layer["mark"], figure.name


def test_lines_of_encoders_have_marks(every_figure):
    spec = printing.for_print(every_figure["retrieval-handbook-coe"].spec)
    lines, marks = spec["layer"]
    assert (lines["mark"]["type"], marks["mark"]["type"]) == ("line", "point")
    encoders = {value["encoder"] for value in marks["data"]["values"]}
    assert encoders == {value["encoder"] for value in spec["data"]["values"]}
    assert marks["encoding"]["shape"]["scale"]["domain"] == marks["encoding"]["color"]["scale"]["domain"]
    assert len(marks["data"]["values"]) <= 13 * len(encoders)


def test_points_without_a_value_have_no_mark():
    points = [{"encoder": "a", "line": "", "x": x, "y": y} for x, y in enumerate([None, 0.5, 1.0, None])]
    spec = {
        "mark": {"type": "line"},
        "data": {"values": points},
        "encoding": {
            "x": {},
            "y": {},
            "color": {"field": "encoder", "type": "nominal", "scale": {"domain": ["a", "b"]}},
        },
    }
    assert [value["x"] for value in printing.for_print(spec)["layer"][1]["data"]["values"]] == [1, 2]
    undefined = {**spec, "data": {"values": [{**point, "y": None} for point in points]}}
    assert printing.for_print(undefined)["layer"][1]["data"]["values"] == []


def test_captions_name_corpus_method_and_settings(every_figure):
    caption = every_figure["localization-paraphrases-agreement"].caption
    assert caption.text.startswith("Which encoders make the same errors, on one fold. Of the sentences")
    assert "Corpus: paraphrases, hand-written" in caption.text
    assert caption.method.startswith("White, Togneri, Liu & Bennamoun (2015)")
    assert caption.key == "white2015"
    assert re.fullmatch(r"Embassay \S+, seed 0, 1,000 resamples", caption.made)
    text = latex.figure(every_figure["localization-paraphrases-agreement"])
    assert r"\includegraphics{localization-paraphrases-agreement.pdf}" in text
    assert r"White, Togneri, Liu \& Bennamoun (2015)" in text
    assert r"~\cite{white2015}." in text


def test_the_heat_map_has_the_fractions_of_the_table():
    encoders = tuple(EncoderRecord(name, name, "", "", 1, None, {}, baseline=False) for name in ("a", "b"))
    data = {
        "names": ["a", "b"],
        "numerator": [[5, 3], [3, 9]],
        "denominator": [[5, 4], [4, 9]],
        "diagonal": "errors",
        "note": "",
        "signatures": [],
    }
    result = assay(["bow", "hashing"], ["paraphrases"], ["localization"], cache=None, baselines=False)
    layout = layouts(result)["localization"]
    names = [verdict.corpus for verdict in result.verdicts]
    assert names == ["paraphrases"]
    small = Result(
        0,
        1000,
        encoders=encoders,
        corpora=result.corpora,
        rows=tuple(_renamed(row) for row in result.rows),
        series=(Series("localization", "paraphrases", "agreement", "matrix", data),),
        verdicts=(Verdict("localization", "paraphrases", "accuracy", 1, 1),),
    )
    (figure,) = [f for f in printed_figures(small, {"localization": layout}, {}) if f.name.endswith("agreement")]
    cells, _ = layers(figure.spec)
    assert {(v["a"], v["b"]): v["share"] for v in cells["data"]["values"]} == {("a", "b"): 0.75, ("b", "a"): 0.75}
    assert {(v["a"], v["b"]): v["text"] for v in figure.spec["data"]["values"]} == {
        ("a", "a"): "5",
        ("a", "b"): "3/4",
        ("b", "a"): "3/4",
        ("b", "b"): "9",
    }


def _renamed(row):
    return replace(row, encoder={"bow": "a", "hashing": "b"}[row.encoder])


def test_without_the_extra_the_message_has_the_command(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "r"
    assert exit_code_of(["run", "-e", "bow", "-c", "opposites", "--limit", "20", "-o", str(folder), "--quiet"]) == 0
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        paper.importlib.util, "find_spec", lambda name: None if name == "vl_convert" else find_spec(name)
    )
    capsys.readouterr()
    assert exit_code_of(["report", str(folder), "--format", "pdf"]) == 2
    assert capsys.readouterr().err == (
        "embassay: --format pdf needs the extra 'charts': pip install 'embassay[charts]'\n"
    )
    assert not (folder / "pdf").exists()


# --- with vl-convert --------------------------------------------------------------------------------------


def test_every_figure_is_drawn_with_one_font(every_figure):
    pytest.importorskip("vl_convert", reason="the charts extra is not installed")
    for figure in every_figure.values():
        root = ElementTree.fromstring(printing.svg(figure.spec))  # noqa: S314 - made here
        texts = [node for node in root.iter() if node.tag.endswith("}text")]
        assert texts, figure.name
        assert {node.get("font-family") for node in texts} == {printing.FONT}
        assert float(root.get("width")) < 640, figure.name


def test_hostile_labels_stay_text():
    pytest.importorskip("vl_convert", reason="the charts extra is not installed")
    samples = tuple(Choice(f"{n}", *(f"{EVIL} {k}{n}" for k in "iapq"), "adjective", EVIL, EVIL) for n in range(12))
    corpus = Corpus(f"../{EVIL}", "choice", samples, licence=EVIL, source=EVIL)
    figures = figures_of(assay([Labelled(EVIL), Labelled(f"../{EVIL}")], [corpus], cache=None))
    assert len(figures) == 2
    for name, figure in figures.items():
        assert re.fullmatch(r"[A-Za-z0-9-]+", name)
        root = ElementTree.fromstring(printing.svg(figure.spec))  # noqa: S314 - made here
        assert {node.tag.split("}")[1] for node in root.iter()} <= {
            "svg", "g", "rect", "path", "line", "text", "title", "defs", "clipPath", "tspan",
        }  # fmt: skip
        assert r"\input" not in latex.figure(figure)


def test_the_command_writes_one_file_for_each_figure(tmp_path, capsys):
    pytest.importorskip("vl_convert", reason="the charts extra is not installed")
    folder = tmp_path / "r"
    run = ["run", "-e", "bow", "-c", "opposites", "-c", "paraphrases", "--limit", "40", "-o", str(folder), "--quiet"]
    assert exit_code_of(run) == 0
    capsys.readouterr()
    for style, others in (("svg", {"captions.txt"}), ("pdf", {"figures.tex", "all.tex", "references.bib"})):
        assert exit_code_of(["report", str(folder), "--format", style]) == 0
        drawn = list((folder / style).glob(f"*.{style}"))
        assert capsys.readouterr().err == f"{len(drawn)} figures: {folder / style}\n"
        assert {path.name for path in (folder / style).iterdir()} - {path.name for path in drawn} == others
        magic = b"<svg" if style == "svg" else b"%PDF"
        assert all(path.read_bytes().startswith(magic) for path in drawn)
    captions = (folder / "svg" / "captions.txt").read_text(encoding="utf-8")
    figures = (folder / "pdf" / "figures.tex").read_text(encoding="utf-8")
    names = {path.stem for path in drawn}
    assert set(re.findall(r"^(\S+)\.svg$", captions, flags=re.M)) == names
    assert set(re.findall(r"\\includegraphics\{(.+?)\.pdf\}", figures)) == names
