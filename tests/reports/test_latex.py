"""Tables as LaTeX: complete, with any label as text, and of one column count throughout."""

import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from embassay.api import assay
from embassay.cli.app import exit_code_of
from embassay.core.formatting import visible
from embassay.core.samples.choice import Choice
from embassay.core.types import Corpus
from embassay.reports.layouts import layouts
from embassay.reports.tables import Cell, Table
from embassay.run.outputs import latex
from embassay.run.outputs.citations import citations_of
from embassay.run.outputs.exhibits import Exhibit, citation_key, exhibits, file_name, file_name_part, tables_of
from tables import Labelled

EVIL = r"\input{/etc/passwd} 100% $x_1^2$ #a & b ~ {c} <d> |e| `f` ''g'' --h ?` \\ "
COMMANDS = {
    "begin", "bottomrule", "caption", "centering", "cite", "end", "footnotesize", "label", "midrule", "par",
    "scriptsize", "textbf", "textheight", "textsuperscript", "textwidth", "toprule",
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
    source = source.replace(r"~\cite", "")
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
    table = Table("T", tuple(head), tuple(map(tuple, rows)), "", signatures)
    return latex.table(Exhibit("t", "What is shown.", "author2020", table))


def test_a_table_is_ruled_with_booktabs():
    rows = [
        [Cell("mini", remark="baseline"), Cell("98.2%", "[97.1, 98.9]")],
        [Cell("bow"), Cell("−0.5%", remark="few units (12)", strong=True)],
        [Cell("none"), Cell("–")],
    ]
    text = printed(["encoder", "accuracy"], rows, signatures=("a|b",))
    assert text == "\n".join(
        [
            "% a|b",
            r"\begin{table}[ht]",
            r"\centering\footnotesize",
            r"\caption{What is shown.~\cite{author2020}}\label{tab:t}",
            r"\begin{adjustbox}{max totalsize={\textwidth}{0.8\textheight}}",
            r"\begin{tabular}{@{}lr@{}}",
            r"\toprule",
            r"encoder & accuracy \\",
            r"\midrule",
            r"mini (baseline) & 98.2\% {\scriptsize [97.1, 98.9]} \\",
            r"bow & \textbf{\ensuremath{-}0.5\%}\textsuperscript{1} \\",
            r"none & – \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{adjustbox}",
            r"\par\textsuperscript{1}few units (12).",
            r"\end{table}",
            "",
        ]
    )
    check(text)


def test_a_bracket_at_the_start_of_a_row_is_text():
    text = printed(["a", "b"], [[Cell("x"), Cell("1")], [Cell("[NAME]"), Cell("2")], [Cell("*"), Cell("3")]])
    assert "{}[NAME] & 2" in text
    assert "{}* & 3" in text


def evil_corpus(name):
    samples = tuple(
        Choice(f"{n}", *(f"{EVIL} {kind}{n}" for kind in "iapq"), "adjective", f"{EVIL}pair", EVIL) for n in range(12)
    )
    return Corpus(name, "choice", samples, licence=EVIL, source=EVIL)


def test_hostile_labels_stay_text_and_file_names_are_safe():
    result = assay([Labelled(EVIL), Labelled("../" * 40)], [evil_corpus(f"../../{EVIL}\0\n{'x' * 300}")], cache=None)
    tables = exhibits(result, layouts(result), citations_of(result), tables_of)
    assert len(tables) == 5
    for table in tables:
        assert re.fullmatch(r"[A-Za-z0-9-]{1,200}", table.name)
        text = latex.table(table)
        check(text)
        printed_lines = [line for line in text.splitlines() if not line.startswith("%")]
        assert r"\input" not in "\n".join(printed_lines)
        assert r"\textbackslash{}input\{/etc/passwd\}" in text
    assert len({table.name.casefold() for table in tables}) == len(tables)


def test_names_are_distinct_whatever_their_case():
    taken = set()
    names = [file_name(("d", label), taken) for label in ("a b", "a-b", "A b", "é")]
    assert names == ["d-a-b", "d-a-b-2", "d-A-b-3", "d-unnamed"]
    assert file_name_part("Success@5 with its 95% interval") == "Success-5-with-its-95-interval"
    assert file_name_part("word " * 20) == "-".join(["word"] * 12)
    assert file_name_part("x" * 100) == "x" * 60
    assert file_name_part("../..") == "unnamed"


@pytest.mark.parametrize(
    ("citation", "key"),
    [("@misc{a2020,\n title = {x}\n}", "a2020"), ("", ""), ("no entry", ""), (" @book { b , }", "b")],
)
def test_the_key_of_a_citation(citation, key):
    assert citation_key(citation) == key


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "r"
    corpora = ["-c", "opposites", "-c", "paraphrases", "-c", "edits"]
    assert exit_code_of(["run", "-e", "bow", *corpora, "--limit", "40", "-o", str(folder)]) == 0
    return folder


def test_the_command_writes_a_document_with_all_tables(run, capsys):
    assert exit_code_of(["report", str(run), "--format", "latex"]) == 0
    folder = run / "latex"
    names = sorted(path.name for path in folder.iterdir())
    tables = [name for name in names if name not in ("all.tex", "references.bib")]
    captured = capsys.readouterr()
    assert captured.err == f"{len(tables)} tables: {folder}\n"
    assert captured.out == ""
    everything = (folder / "all.tex").read_text(encoding="utf-8")
    assert [f"{name}.tex" for name in re.findall(r"\\input\{(.+?)\}", everything)] == sorted(
        tables, key=lambda name: everything.index(name.removesuffix(".tex") + "}")
    )
    bibliography = (folder / "references.bib").read_text(encoding="utf-8")
    for name in tables:
        text = (folder / name).read_text(encoding="utf-8")
        check(text)
        (key,) = re.findall(r"\\cite\{(\w+)\}", text)
        assert f"{{{key}," in bibliography
    first = {name: (folder / name).read_bytes() for name in names}
    assert exit_code_of(["report", str(run), "--format", "latex"]) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first, "the same bytes again"


def test_the_folder_can_be_named(run, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("stays")
    assert exit_code_of(["report", str(run), "--format", "latex", "-o", str(tmp_path)]) == 0
    assert (tmp_path / "mine.txt").read_text() == "stays"
    file = tmp_path / "mine.txt"
    assert exit_code_of(["report", str(run), "--format", "latex", "-o", str(file)]) == 2
    assert "is a file; --format latex writes a folder, name another one with -o" in capsys.readouterr().err


def test_a_new_run_in_the_folder_leaves_no_table_of_the_old_one(tmp_path):
    folder = tmp_path / "r"
    command = ["run", "-c", "opposites", "--limit", "40", "--no-baselines", "-o", str(folder), "--overwrite", "-e"]
    assert exit_code_of([*command, "bow"]) == 0
    assert exit_code_of(["report", str(folder), "--format", "latex"]) == 0
    assert exit_code_of([*command, "hashing"]) == 0
    assert list((folder / "latex").iterdir()) == []


def test_a_diagnostic_that_is_not_installed_has_no_citation(run):
    from embassay.api import read

    result = read(run)
    other = replace(result.verdicts[0], diagnostic="theirs")
    assert "theirs" not in citations_of(replace(result, verdicts=(*result.verdicts, other)))
