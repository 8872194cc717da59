"""A bar on a terminal, and lines elsewhere."""

import io

from embassay.run import progress as module
from embassay.run.progress import counting, progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def standard_error(monkeypatch, kind):
    """Put another standard error in the place of pytest's, in the test itself."""
    found = kind()
    monkeypatch.setattr("sys.stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return found


def test_a_training_shows_the_sentences_of_all_epochs(monkeypatch):
    terminal = standard_error(monkeypatch, Terminal)
    with progress("train model") as advance:
        advance(250, 1000)
    assert "train model" in terminal.getvalue()
    assert " 250/1000" in terminal.getvalue()


def test_a_long_step_prints_lines_where_there_is_no_terminal(monkeypatch):
    monkeypatch.setattr(module, "INTERVAL", -1)
    found = standard_error(monkeypatch, io.StringIO)
    with counting("minilm", 1200) as advance:
        advance(1000)
        advance(100)
    assert "minilm: 1,000 of 1,200\n" in found.getvalue()
    assert "minilm: 1,100 of 1,200\n" in found.getvalue()


def test_counting_shows_the_count_and_the_total(monkeypatch):
    terminal = standard_error(monkeypatch, Terminal)
    with counting("figures", 12) as advance:
        advance(1)
        advance(1)
    assert " 2/12" in terminal.getvalue()
    plain = standard_error(monkeypatch, io.StringIO)
    with counting("figures", 12) as advance:
        advance(1)
    assert plain.getvalue() == ""
