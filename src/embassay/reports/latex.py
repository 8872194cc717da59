"""Tables as LaTeX, in the form of the papers: ruled with booktabs, percent in the heading, intervals in small type."""

from __future__ import annotations

import re
from collections.abc import Sequence

from embassay.formatting import DASH, visible
from embassay.reports.exhibits import Caption, PrintedFigure, PrintedTable
from embassay.reports.tables import BASELINE, Cell, Table

LONGEST = 45
"""Rows of a table that fit on a page; a longer one continues on the next page."""
WIDEST = 95
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
    '"': "''{}",
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
    """Return a table with caption and label; one of more than ``LONGEST`` rows as a ``longtable``."""
    content = printed.table
    percent = tuple(_is_percent(content, column) for column in range(len(content.head)))
    remarks = _remarks(content)
    lines = [" & ".join(map(_heading, content.head, percent)) + r" \\"]
    body = []
    for row in content.rows:
        cells = [_cell(cell, is_percent, remarks) for cell, is_percent in zip(row, percent, strict=True)]
        body.append(" & ".join(cells) + r" \\")
    columns = "".join("r" if numeric else "l" for numeric in content.numeric)
    has_baseline = any(cell.remark == BASELINE for row in content.rows for cell in row)
    caption = rf"\caption{{{caption_text(printed.caption, _remark_notes(remarks, has_baseline))}}}"
    label = rf"\label{{tab:{printed.name}}}"
    head = [*map(_comment, content.signatures)]
    is_wide = _width(content) > WIDEST
    if len(content.rows) > LONGEST:
        # A table of several pages cannot be scaled as a whole.
        size = r"\tiny\setlength{\tabcolsep}{2pt}" if is_wide else r"\footnotesize"
        repeated = [r"\toprule", *lines, r"\midrule"]
        lines = [
            rf"\begingroup{size}\setlength{{\LTcapwidth}}{{\textwidth}}",
            rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
            caption + label + r" \\",
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
        return "\n".join([*head, *lines, ""])
    tabular = [
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        *lines,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if is_wide:
        tabular = [r"\resizebox{\textwidth}{!}{%", *tabular, "}"]
    lines = [
        r"\begin{table}[ht]",
        r"\centering\footnotesize",
        caption,
        label + r"\par\smallskip",
        *tabular,
        r"\end{table}",
    ]
    return "\n".join([*head, *lines, ""])


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


def document(names: Sequence[str], has_references: bool) -> str:
    """Return a document that shows all files.

    Parameters
    ----------
    names
        The files that are included, without suffix.
    has_references
        Whether they cite entries of ``references.bib``.
    """
    lines = [r"\documentclass{article}", r"\usepackage[a4paper,margin=2cm]{geometry}", PACKAGES, r"\begin{document}"]
    for name in names:
        lines += [rf"\input{{{name}}}", r"\clearpage"]
    if has_references:
        lines += [r"\bibliographystyle{plain}", r"\bibliography{references}"]
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
    return escape(heading) + (r" (\%)" if is_percent else "")


def _cell(cell: Cell, is_percent: bool, remarks: Sequence[str]) -> str:
    """Return a cell: the value, bold if it is strong, its interval in small type, and the mark of its remark."""
    text = escape(cell.text.removesuffix("%") if is_percent else cell.text)
    if cell.strong:
        text = rf"\textbf{{{text}}}"
    if cell.interval:
        text += rf" {{\scriptsize {escape(cell.interval)}}}"
    if cell.remark == BASELINE:
        text += r"\textsuperscript{b}"
    elif cell.remark:
        text += rf"\textsuperscript{{{remarks.index(cell.remark) + 1}}}"
    # A bracket at the start of a row would be read as an option of the line break before it.
    return "{}" + text if text.startswith(("[", "*")) else text


def _remarks(content: Table) -> list[str]:
    """Return the distinct remarks of a table, baselines aside, in order."""
    cells = [cell for row in content.rows for cell in row]
    return list(dict.fromkeys(cell.remark for cell in cells if cell.remark and cell.remark != BASELINE))


def _remark_notes(remarks: Sequence[str], has_baseline: bool) -> str:
    """Return what the marks in a table stand for."""
    notes = []
    if has_baseline:
        notes.append(r"\textsuperscript{b}Baseline.")
    for number, remark in enumerate(remarks, 1):
        notes.append(rf"\textsuperscript{{{number}}}{escape(remark)}.")
    return " ".join(notes)


def _width(content: Table) -> int:
    """Return about how many characters the widest row takes, with the spaces between columns."""
    columns = zip(content.head, *([cell.text + cell.interval for cell in row] for row in content.rows), strict=True)
    return sum(max(map(len, column)) + 3 for column in columns)


def _comment(text: str) -> str:
    return f"% {visible(text)}"
