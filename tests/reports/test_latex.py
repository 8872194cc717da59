"""Tables as LaTeX: complete, with any label as text, and of one column count throughout."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from embassay.api import assay
from embassay.cli.app import exit_code_of
from embassay.core.formatting import visible
from embassay.reports.tables import Cell, Table
from embassay.run.outputs.exhibits import exhibits, file_name
from embassay.run.outputs.kinds import latex
from tables import Labelled, hostile

EVIL = r"\input{/etc/passwd} 100% $x_1^2$ #a & b ~ {c} <d> |e| `f` ''g'' --h ?` \\ "
COMMANDS = {
    "begin", "bottomrule", "caption", "centering", "end", "footnotesize", "label", "midrule", "par", "textheight",
    "textwidth", "toprule",
}  # fmt: skip
"""What a table may use, beside the commands that stand for characters."""


def check(text):
    """Read a table strictly: balanced, with known commands only, each row with the declared number of columns.

    Returns
    -------
    The rows of the one tabular in it.
    """
    source = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    check_characters(source)
    check_balance(source)
    ((columns, body),) = re.findall(r"\\begin\{tabular\}\{@\{\}([lr]+)@\{\}\}(.*?)\\end\{tabular\}", source, flags=re.S)
    rows = [line for line in body.splitlines() if line.endswith(r" \\")]
    for row in rows:
        assert row.replace(r"\&", "").count("&") == len(columns) - 1, row
    return rows


def check_characters(source):
    """Raise AssertionError for an unknown command, or for a character that LaTeX would read."""
    for written in latex.SPECIAL.values():
        source = source.replace(written, "")
    assert set(re.findall(r"\\([A-Za-z]+)", source)) <= COMMANDS
    source = re.sub(r"\\([A-Za-z]+|\\)", "", source)
    assert not set(source) & set("\\$#%_^~<>|"), source


def check_balance(source):
    """Raise AssertionError if braces or environments do not match."""
    depth = 0
    for brace in re.findall(r"[{}]", re.sub(r"\\.", "", source)):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    opened = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", source):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened


def unescaped(text):
    """Return what LaTeX prints for an escaped text."""
    for character, written in sorted(latex.SPECIAL.items(), key=lambda item: -len(item[1])):
        text = text.replace(written, f"\0{ord(character)};")
    text = text.replace("{}", "")
    assert not set(text) & set(latex.SPECIAL), "nothing is left that LaTeX would read"
    return re.sub("\0(\\d+);", lambda match: chr(int(match[1])), text)


@given(st.text())
@example(EVIL)
@example("a\nb\x1b[0m‮c")
@example("−−'',,---\"\"")
def test_any_text_is_printed_as_it_is(text):
    escaped = latex.escape(text)
    assert unescaped(escaped) == visible(text)
    assert not re.search(r"--|''(?!\{)|,,|\?`|!`", escaped)


def printed(head, rows, signatures=()):
    table = Table("T", tuple(head), tuple(map(tuple, rows)))
    return latex.table("t", "What is shown.", table, signatures)


def test_a_table_is_ruled_with_booktabs():
    rows = [
        [Cell("mini", remark="baseline"), Cell("98.2%", "[97.1, 98.9]")],
        [Cell("bow"), Cell("−0.5%", remark="few units (12)")],
        [Cell("none"), Cell("–")],
    ]
    text = printed(["encoder", "accuracy"], rows, signatures=("a|b",))
    assert text.startswith("% a|b\n\\begin{table}[ht]\n")
    assert r"\caption{What is shown.}\label{tab:t}" in text
    assert r"\begin{tabular}{@{}lr@{}}" in text
    assert check(text) == [
        r"{}encoder & accuracy \\",
        r"{}mini (baseline) & 98.2\% [97.1, 98.9] \\",
        r"{}bow & \ensuremath{-}0.5\% (1) \\",
        r"{}none & – \\",
    ]
    assert "\\par (1) few units (12).\n" in text


def test_a_bracket_at_the_start_of_a_row_is_text():
    text = printed(["a", "b"], [[Cell("x"), Cell("1")], [Cell("[NAME]"), Cell("2")], [Cell("*"), Cell("3")]])
    assert "{}[NAME] & 2" in text
    assert "{}* & 3" in text


def tables_of(result):
    return list(exhibits(result))


def test_hostile_labels_stay_text_and_file_names_are_safe():
    result = assay([Labelled(EVIL), Labelled("../" * 40)], [hostile(f"../../{EVIL}\0\n{'x' * 300}", EVIL)], cache=None)
    tables = tables_of(result)
    assert len(tables) == 3
    for table in tables:
        assert re.fullmatch(r"[A-Za-z0-9-]{1,200}", table.name)
        text = latex.table(table.name, table.caption, table.table, ("a|b",))
        check(text)
        printed_lines = [line for line in text.splitlines() if not line.startswith("%")]
        assert r"\input" not in "\n".join(printed_lines)
        assert r"\textbackslash{}input\{/etc/passwd\}" in text
    assert len({table.name.casefold() for table in tables}) == len(tables)


def test_names_are_distinct_whatever_their_case():
    taken = set()
    names = [file_name(label, taken) for label in ("d a b", "d a-b", "d A b", "é", "../..", "Success@5 with 95%")]
    assert names == ["d-a-b", "d-a-b-2", "d-A-b-2-2", "unnamed", "unnamed-2", "Success-5-with-95"]
    assert len(file_name("x" * 1000, taken)) == 120


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "r"
    corpora = ["-c", "opposites", "-c", "paraphrases", "-c", "edits"]
    assert exit_code_of(["run", "-e", "bow", *corpora, "--limit", "40", "-o", str(folder)]) == 0
    return folder
