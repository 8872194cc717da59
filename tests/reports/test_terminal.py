"""What a terminal prints: no line is wider than it, and where there is no terminal no line is broken."""

import io

import pytest
from rich.console import Console

from embassay.core.layout import Column, EncoderTable, Layout
from embassay.core.metric_key import MetricKey
from embassay.core.result import CorpusRecord, EncoderRecord, Result, Row, Verdict
from embassay.reports.terminal import print_line, show

METRICS = tuple(f"metric{n}" for n in range(9))
NAME = "a-model-with-a-name-of-some-length"


def terminal(width, is_terminal=True):
    return Console(file=io.StringIO(), width=width, force_terminal=is_terminal, color_system=None, legacy_windows=False)


def nine_columns():
    rows = tuple(
        Row("d", "c", "all", "cosine", "", name, NAME, 0.5, 0.4, 0.6, 100, 50, 0, None, "s") for name in METRICS
    )
    encoder = EncoderRecord(NAME, name=NAME, fingerprint="f", dim=3, baseline=False)
    corpus = CorpusRecord(
        name="c",
        shape="choice",
        fingerprint="f",
        items=100,
        units=50,
        effective_units=50.0,
        duplicates=0,
        distinct_texts=90,
        licence="CC0",
        source="",
        builtin=False,
    )
    verdict = Verdict(**vars(MetricKey("", diagnostic="d", corpus="c")), items=100, units=50, candidates=(NAME,))
    return Result(0, 10, encoders=(encoder,), corpora=(corpus,), rows=rows, verdicts=(verdict,))


def shown(console):
    columns = tuple(Column(name, name, format="percent") for name in METRICS)
    show(nine_columns(), {"d": Layout("Title", "?", EncoderTable("t", columns), (), "source")}, console)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 110, 200])
def test_columns_for_which_a_terminal_is_too_narrow_stand_below(width):
    lines = shown(terminal(width))
    assert max(map(len, lines)) <= width
    # Each block of columns begins with the encoder's whole name.
    blocks = [line for line in lines if line.startswith(NAME)]
    assert sum(line.count("50.0%") for line in blocks) == len(METRICS)
    assert len(blocks) > 1


def test_where_there_is_no_terminal_a_table_stands_whole():
    (line,) = [line for line in shown(terminal(60, is_terminal=False)) if line.startswith(NAME)]
    assert line.count("50.0%") == len(METRICS)


def test_a_long_line_is_wrapped_for_a_terminal_only():
    text = "  question    " + "word " * 30
    console = terminal(40)
    print_line(console, text, indent=14)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 40
    assert all(line.startswith(" " * 14 + "word") for line in lines[1:])
    plain = terminal(40, is_terminal=False)
    print_line(plain, text, indent=14)
    assert len(plain.file.getvalue().splitlines()) == 1
