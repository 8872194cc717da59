"""A yes/no diagnostic of one's own is one file: every command works with it, as for a diagnostic of ours."""

import csv
import json
import shutil
import sys
from functools import cache
from pathlib import Path

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core import plugins

FILE = Path(__file__).with_name("partner_first.py")
THINGS = "shop rain door train lamp river glass bread wind stone".split()


@pytest.fixture
def embassay(tmp_path, monkeypatch, capsys):
    """Install the file as a package's plug-in, and return what runs a command: its exit code, stdout and stderr."""
    site = tmp_path / "site"
    info = site / "partner_first-1.0.dist-info"
    info.mkdir(parents=True)
    shutil.copy(FILE, site)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: partner_first\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[embassay.diagnostics]\npartner_first = partner_first\n")
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(plugins, "_entry_points", cache(plugins._entry_points.__wrapped__))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    with (tmp_path / "pairs.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["first", "second", "score"])
        for number in range(90):
            a, b = THINGS[number % 10], THINGS[number // 10]
            table.writerow([f"the {a} and the {b} {number}", f"one {a} by a {b} {number}", number % 5])

    def call(*arguments):
        code = exit_code_of([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, " ".join(out.split()), err

    yield call
    sys.modules.pop("partner_first", None)


@pytest.fixture
def runs(embassay):
    """Two finished runs, in which the encoder called ``mine`` is a good one and a bad one."""
    for run, spec in (("good", "bow"), ("bad", "hashing,dim=2")):
        arguments = ("-e", f"mine={spec}", "-e", "other=hashing,dim=16", "-c", "mypairs=pairs.csv")
        code, out, err = embassay("run", *arguments, "-d", "partner_first", "--resamples", 200, "-o", run)
        assert code == 0, err
    # Marks are shown where someone is not above chance, as the bad one.
    assert "above chance" in out
    return embassay


def test_it_is_one_short_file():
    assert len(FILE.read_text(encoding="utf-8").splitlines()) <= 120


def test_the_figures_are_those_of_a_loop(runs):
    result = json.loads(Path("good/result.json").read_text())
    corpus = ea.load("pairs.csv")
    encode = ea.encoder("hashing,dim=16").encode
    right = []
    seconds = [pair.second for pair in corpus.samples]
    for pair, stranger in zip(corpus.samples, [*seconds[1:], seconds[0]], strict=True):
        a, b, c = encode([pair.first, pair.second, stranger]).astype(float)
        partner_cosine, stranger_cosine = a @ b / (b @ b) ** 0.5, a @ c / (c @ c) ** 0.5
        right.append(0.5 if abs(partner_cosine - stranger_cosine) < 1e-9 else partner_cosine > stranger_cosine)
    (row,) = (r for r in result["rows"] if (r["metric"], r["encoder"]) == ("accuracy", "other"))
    assert row["value"] == pytest.approx(sum(right) / 90)
    assert row["low"] < row["value"] < row["high"]
    (verdict,) = result["verdicts"]
    assert (verdict["metric"], verdict["chance"], verdict["best_set"][0]) == ("accuracy", 0.5, "mine")


@pytest.mark.parametrize(
    ("style", "file", "wanted"),
    [
        ("html", "report.html", ["Which differences are shown: accuracy", "Item by item", "the shop and the shop 0"]),
        ("md", "report.md", ["Partner first on mypairs: ", "Which differences are shown: accuracy"]),
        ("csv", "csv/rows.csv", ['"partner_first","mypairs","all","cosine","","accuracy","mine"']),
        ("latex", "latex/partner-first-mypairs-what-it-measures.tex", ["cosine, stranger", "mine & 100.0"]),
        ("model-card", "model-card/mine.md", ["| Partner first | mypairs | accuracy | 100.0% |"]),
    ],
)
def test_report_writes_it_in_every_format(runs, style, file, wanted):
    code, _, err = runs("report", "good", "--format", style)
    assert code == 0, err
    text = (Path("good") / file).read_text(encoding="utf-8")
    for words in wanted:
        assert words in text, words


def test_bless_and_check_find_a_loss(runs):
    code, _, err = runs("bless", "good", "-o", "baseline")
    assert code == 0, err
    assert runs("check", "good", "--baseline", "baseline")[0] == 0
    code, out, _ = runs("check", "bad", "--baseline", "baseline")
    assert code == 1
    # Two dimensions leave some sentences without a vector.
    assert "regression: mine, accuracy on mypairs: 26 of 90 pairs have no value in this run." in out
    assert "1 of 2 tests worse" in out
