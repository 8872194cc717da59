"""Figures as files: all of them, with any label as text, and one file each."""

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from embassay.api import assay
from embassay.cli.app import exit_code_of
from embassay.outputs import latex
from embassay.outputs.citations import citations_of
from embassay.outputs.exhibits import FONT, exhibits, figures_of, print_spec
from embassay.reports.layouts import layouts
from embassay.result import EncoderRecord, Result, Series, Verdict
from embassay.samples.choice import Choice
from embassay.types import Corpus
from tables import Labelled

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)</script>&\"'</text>\n%{x}\\input{y}"


def by_name(result):
    return {figure.name: figure for figure in exhibits(result, layouts(result), citations_of(result), figures_of)}


def drawn(figure):
    """Return the root of a figure's SVG."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(print_spec(figure.content), allowed_base_urls=[])
    return ElementTree.fromstring(svg)  # noqa: S314 - made here


@pytest.fixture(scope="module")
def every_figure():
    """The figures of a run on all built-in shapes that have some."""
    result = assay(["bow", "hashing"], ["opposites", "paraphrases", "edits", "vignettes", "handbook"], cache=None)
    return by_name(result)


def test_captions_name_corpus_method_and_settings(every_figure):
    assert len(every_figure) > 20
    figure = every_figure["localization-paraphrases-agreement"]
    caption = figure.caption
    assert caption.startswith("Which encoders make the same errors, on one fold. Of the sentences")
    assert "Corpus: paraphrases, hand-written" in caption
    assert "Method: White, Togneri, Liu & Bennamoun (2015)" in caption
    assert re.search(r" Embassay \S+, seed 0, 1,000 resamples\.$", caption)
    text = latex.figure(figure)
    assert r"\includegraphics{localization-paraphrases-agreement.pdf}" in text
    assert r"White, Togneri, Liu \& Bennamoun (2015)" in text
    assert r"~\cite{white2015}}" in text


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
    (figure,) = [f for f in exhibits(small, {"localization": layout}, {}, figures_of) if f.name.endswith("agreement")]
    cells, _ = figure.content["layer"]
    assert {(v["a"], v["b"]): v["share"] for v in cells["data"]["values"]} == {("a", "b"): 0.75, ("b", "a"): 0.75}
    assert {(v["a"], v["b"]): v["text"] for v in figure.content["data"]["values"]} == {
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
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "vl_convert" else find_spec(name))
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
        root = drawn(figure)
        texts = [node for node in root.iter() if node.tag.endswith("}text")]
        assert texts, figure.name
        assert {node.get("font-family") for node in texts} == {FONT}
        assert float(root.get("width")) < 640, figure.name


def test_hostile_labels_stay_text():
    pytest.importorskip("vl_convert", reason="the charts extra is not installed")
    samples = tuple(Choice(f"{n}", *(f"{EVIL} {k}{n}" for k in "iapq"), "adjective", EVIL, EVIL) for n in range(12))
    corpus = Corpus(f"../{EVIL}", "choice", samples, licence=EVIL, source=EVIL)
    figures = by_name(assay([Labelled(EVIL), Labelled(f"../{EVIL}")], [corpus], cache=None))
    assert len(figures) == 2
    for name, figure in figures.items():
        assert re.fullmatch(r"[A-Za-z0-9-]+", name)
        root = drawn(figure)
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
