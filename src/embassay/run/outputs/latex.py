"""Tables as LaTeX: any text is printed as it is, tables are ruled with booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from embassay.core.formatting import visible
from embassay.reports.tables import BASELINE, Cell, Table
from embassay.run.outputs.exhibits import Exhibit

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
PACKAGES = r"\usepackage{booktabs,adjustbox}"
"""What a document needs to include the files."""


def escape(text: str) -> str:
    """Return any text so that LaTeX prints it as it is. Control characters become visible escapes such as ``\\n``."""
    escaped = visible(text).translate(_TRANSLATION)
    # Two of these marks in a row would be joined into another character.
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)


def table(exhibit: Exhibit[Table]) -> str:
    """Return a table with caption and label; one that is larger than a page is scaled down to it."""
    content = exhibit.content
    alignments = "".join("r" if is_numeric else "l" for is_numeric in content.numeric)
    lines = [f"% {visible(signature)}" for signature in content.signatures]
    lines += [
        r"\begin{table}[ht]",
        r"\centering\footnotesize",
        _caption(exhibit),
        r"\begin{adjustbox}{max totalsize={\textwidth}{0.8\textheight}}",
        rf"\begin{{tabular}}{{@{{}}{alignments}@{{}}}}",
        r"\toprule",
        _line(list(map(escape, content.head))),
        r"\midrule",
    ]
    for row in content.rows:
        lines.append(_line([_cell(cell, content.remarks) for cell in row]))
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{adjustbox}"]
    for number, remark in enumerate(content.remarks, 1):
        lines.append(rf"\par\textsuperscript{{{number}}}{escape(remark)}.")
    return "\n".join([*lines, r"\end{table}", ""])


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


def _caption(exhibit: Exhibit[Table]) -> str:
    """Return the caption, with the citation of the method, and the label."""
    caption = escape(exhibit.caption)
    if exhibit.key:
        caption += rf"~\cite{{{exhibit.key}}}"
    return rf"\caption{{{caption}}}\label{{tab:{exhibit.name}}}"


def _line(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    line = " & ".join(cells) + r" \\"
    # A bracket at the start of a row would be read as an option of the line break before it.
    if line.startswith(("[", "*")):
        return "{}" + line
    return line


def _cell(cell: Cell, remarks: Sequence[str]) -> str:
    """Return a cell: its value, bold if it is strong, its interval in small type, and the mark of its remark."""
    text = escape(cell.text)
    if cell.strong:
        text = rf"\textbf{{{text}}}"
    if cell.interval:
        text += rf" {{\scriptsize {escape(cell.interval)}}}"
    if cell.remark == BASELINE:
        text += f" ({BASELINE})"
    elif cell.remark:
        text += rf"\textsuperscript{{{remarks.index(cell.remark) + 1}}}"
    return text
