"""Tables as LaTeX, in the form of the papers: ruled with booktabs, percent in the heading, intervals in small type."""

from __future__ import annotations

import re
from collections.abc import Sequence

from embassay.formatting import DASH, visible
from embassay.reports.exhibits import Caption, PrintedFigure, PrintedTable
from embassay.reports.tables import BASELINE, Cell, Table

LONGEST = 45
"""Lines of a table that fit on a page; a longer one continues on the next page."""
WIDEST = 110
"""Characters of a row that fit on a page in small type; a wider table is scaled down."""
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedblright{}",
    "`": r"\textasciigrave{}",
    "−": r"\ensuremath{-}",
    "×": r"\ensuremath{\times}",
    "√": r"\ensuremath{\surd}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "±": r"\ensuremath{\pm}",
    "→": r"\ensuremath{\rightarrow}",
    "‖": r"\ensuremath{\Vert}",
    "∩": r"\ensuremath{\cap}",
    "∪": r"\ensuremath{\cup}",
    "²": r"\ensuremath{^2}",
    "°": r"\ensuremath{^\circ}",
    "α": r"\ensuremath{\alpha}",
    "δ": r"\ensuremath{\delta}",
    "Δ": r"\ensuremath{\Delta}",
    "ε": r"\ensuremath{\varepsilon}",
    "θ": r"\ensuremath{\theta}",
    "ρ": r"\ensuremath{\rho}",
    "τ": r"\ensuremath{\tau}",
    "ψ": r"\ensuremath{\psi}",
    "φ": r"\ensuremath{\varphi}",
}
"""LaTeX for characters that have a meaning of their own there, or that its fonts lack."""
_TRANSLATION = str.maketrans(SPECIAL)
PACKAGES = r"\usepackage{booktabs,longtable,graphicx}"
"""What a document needs to include the files."""


def escape(text: str) -> str:
    """Return any text so that LaTeX prints it as it is. Control characters become visible escapes such as ``\\n``."""
    escaped = visible(text).translate(_TRANSLATION)
    # Two of these marks in a row would be joined into another character.
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)


def table(printed: PrintedTable) -> str:
    """Return a table with caption and label; one that is longer than a page as a ``longtable``."""
    content = printed.table
    percent = [_is_percent(content, column) for column in range(len(content.head))]
    remarks = content.remarks
    # Intervals stand below their values where they do not fit beside them.
    is_stacked = _width(content) > WIDEST
    is_wide = _width(content, is_stacked) > WIDEST
    height = len(content.rows)
    if is_stacked and not is_wide:
        # A wide table is scaled down, so that its second lines fit as well.
        height *= 2
    is_long = height > LONGEST

    interval_size = r"\scriptsize"
    if is_long and is_wide:
        interval_size = r"\tiny"
    headings = map(_heading, content.head, percent)
    body = []
    for row in content.rows:
        cells = [_cell(cell, is_percent, remarks) for cell, is_percent in zip(row, percent, strict=True)]
        intervals = [_interval(cell, interval_size) for cell in row]
        if not is_stacked:
            cells = [f"{cell} {interval}".rstrip() for cell, interval in zip(cells, intervals, strict=True)]
        body.append(_line(cells))
        if is_stacked and any(intervals):
            body += [_line(intervals), r"\addlinespace"]

    alignments = ""
    for is_numeric in content.numeric:
        if is_numeric:
            alignments += "r"
        else:
            alignments += "l"
    columns = f"@{{}}{alignments}@{{}}"
    has_baseline = any(cell.remark == BASELINE for cell in content.cells)
    notes = _remark_notes(remarks, has_baseline)
    caption = rf"\caption{{{caption_text(printed.caption, notes)}}}\label{{tab:{printed.name}}}"
    signatures = [f"% {visible(signature)}" for signature in content.signatures]
    head = _line(list(headings))
    if is_long:
        lines = _long_table(caption, columns, head, body, is_wide)
    else:
        lines = _one_page_table(caption, columns, head, body, is_wide)
    return "\n".join([*signatures, *lines, ""])


def _one_page_table(caption: str, columns: str, head: str, body: Sequence[str], is_wide: bool) -> list[str]:
    """Return the lines of a table; one that is too wide is scaled down to the width of the text."""
    tabular = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if is_wide:
        tabular = [r"\resizebox{\textwidth}{!}{%", *tabular, "}"]
    return [
        r"\begin{table}[ht]",
        r"\centering\footnotesize",
        caption + r"\par\smallskip",
        *tabular,
        r"\end{table}",
    ]


def _long_table(caption: str, columns: str, head: str, body: Sequence[str], is_wide: bool) -> list[str]:
    """Return the lines of a table of several pages, which repeats its head; a wide one is in the smallest type."""
    size = r"\footnotesize"
    if is_wide:
        size = r"\tiny\setlength{\tabcolsep}{2pt}"
    repeated = [r"\toprule", head, r"\midrule"]
    return [
        rf"\begingroup{size}\setlength{{\LTcapwidth}}{{\textwidth}}",
        rf"\begin{{longtable}}{{{columns}}}",
        caption + r" \\",
        *repeated,
        r"\endfirsthead",
        *repeated,
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *body,
        r"\end{longtable}",
        r"\endgroup",
    ]


def figure(printed: PrintedFigure) -> str:
    """Return the lines that include a figure from its PDF file, with caption and label."""
    lines = [
        r"\begin{figure}[ht]",
        r"\centering",
        rf"\includegraphics{{{printed.name}.pdf}}",
        rf"\caption{{{caption_text(printed.caption)}}}",
        rf"\label{{fig:{printed.name}}}",
        r"\end{figure}",
    ]
    return "\n".join([*lines, ""])


def document(names: Sequence[str]) -> str:
    """Return a document that shows all files, and all entries of ``references.bib``.

    Parameters
    ----------
    names
        The files that are included, without suffix.
    """
    lines = [r"\documentclass{article}", r"\usepackage[a4paper,margin=2cm]{geometry}", PACKAGES, r"\begin{document}"]
    for name in names:
        lines += [rf"\input{{{name}}}", r"\clearpage"]
    lines += [r"\nocite{*}", r"\bibliographystyle{plain}", r"\bibliography{references}"]
    return "\n".join([*lines, r"\end{document}", ""])


def caption_text(caption: Caption, notes: str = "") -> str:
    """Return a caption as LaTeX: what is shown, the method with its citation, and the settings."""
    method = f"Method: {escape(caption.method)}"
    if caption.key:
        method += rf"~\cite{{{caption.key}}}"
    parts = [escape(caption.text), notes, f"{method}.", f"{escape(caption.made)}."]
    return " ".join(filter(None, parts))


def _is_percent(content: Table, column: int) -> bool:
    """Return whether all values of a column are percentages, so that its heading can name the unit."""
    texts = [row[column].text for row in content.rows if row[column].text != DASH]
    return bool(texts) and all(text.endswith("%") for text in texts) and content.numeric[column]


def _heading(heading: str, is_percent: bool) -> str:
    """Return the heading of a column, which names the unit of its percentages."""
    text = escape(heading)
    if is_percent:
        text += r" (\%)"
    return text


def _line(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    line = " & ".join(cells) + r" \\"
    # A bracket at the start of a row would be read as an option of the line break before it.
    if line.startswith(("[", "*")):
        return "{}" + line
    return line


def _interval(cell: Cell, size: str) -> str:
    """Return the interval of a cell in small type; an empty text if it has none."""
    if not cell.interval:
        return ""
    return f"{{{size} {escape(cell.interval)}}}"


def _cell(cell: Cell, is_percent: bool, remarks: Sequence[str]) -> str:
    """Return the value of a cell, bold if it is strong, and the mark of its remark."""
    value = cell.text
    if is_percent:
        # The heading names the unit.
        value = value.removesuffix("%")
    text = escape(value)
    if cell.strong:
        text = rf"\textbf{{{text}}}"
    if cell.remark == BASELINE:
        text += r"\textsuperscript{b}"
    elif cell.remark:
        text += rf"\textsuperscript{{{remarks.index(cell.remark) + 1}}}"
    return text


def _remark_notes(remarks: Sequence[str], has_baseline: bool) -> str:
    """Return what the marks in a table stand for."""
    notes = []
    if has_baseline:
        notes.append(r"\textsuperscript{b}Baseline.")
    for number, remark in enumerate(remarks, 1):
        notes.append(rf"\textsuperscript{{{number}}}{escape(remark)}.")
    return " ".join(notes)


def _width(content: Table, is_stacked: bool = False) -> int:
    """Return about how many characters the widest row takes, with the spaces between columns."""
    width = 0
    for column, heading in enumerate(content.head):
        widest = len(heading)
        for row in content.rows:
            cell = row[column]
            length = len(cell.text) + len(cell.interval)
            if is_stacked:
                length = max(len(cell.text), len(cell.interval))
            widest = max(widest, length)
        # The space between two columns is about as wide as three characters.
        width += widest + 3
    return width
