"""The tables of the report for LaTeX: a file for each, a document that shows all, and the references.

Any text is printed as it is; tables are ruled with booktabs.
"""

from __future__ import annotations

import re
from string import Template

from embassay.core.formatting import visible
from embassay.reports.tables import Table
from embassay.run.finished import FinishedRun
from embassay.run.outputs.citations import OURS, citation_key, citation_of, other_references
from embassay.run.outputs.exhibits import Markup, exhibits
from embassay.run.outputs.formats import Export

HOLDS = "table"
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
DOCUMENT = Template(r"""\documentclass{article}
\usepackage[a4paper,margin=2cm]{geometry}
\usepackage{booktabs,adjustbox}
\begin{document}
$tables
\bibliographystyle{plain}
\bibliography{references}
\end{document}
""")
TABLE = Template(r"""$signatures\begin{table}[ht]
\centering\footnotesize
\caption{$caption}\label{tab:$name}
\begin{adjustbox}{max totalsize={\textwidth}{0.8\textheight}}
\begin{tabular}{@{}$alignments@{}}
\toprule
$head
\midrule
$rows
\bottomrule
\end{tabular}
\end{adjustbox}
$remarks\end{table}
""")
"""A table; one that is larger than a page is scaled down to it."""


def export(finished: FinishedRun) -> Export:
    """Make the tables."""
    texts = {}
    included = []
    citations = {"": OURS}
    for exhibit in exhibits(finished.result):
        if isinstance(exhibit.content, Table):
            citation = citation_of(exhibit.diagnostic)
            key = citation_key(citation)
            citations[key] = citation or OURS
            texts[f"{exhibit.name}.tex"] = table(exhibit.name, exhibit.caption, exhibit.content, key)
            included.append(rf"\input{{{exhibit.name}}}\clearpage")
    texts["all.tex"] = DOCUMENT.substitute(tables="\n".join(included))
    texts["references.bib"] = "\n\n".join([*citations.values(), *other_references().values(), ""])
    return Export(texts, len(included))


def table(name: str, caption: str, content: Table, citation: str = "") -> str:
    """Return a table with caption and label.

    Parameters
    ----------
    name
        Its name in the label, of letters, digits and hyphens.
    caption
        Plain text.
    citation
        The key of the method in ``references.bib``; empty without one.
    """
    rows = [" & ".join(MARKUP.cell(cell, content) for cell in row) for row in content.rows]
    return TABLE.substitute(
        name=name,
        signatures="".join(f"% {visible(signature)}\n" for signature in content.signatures),
        caption=escape(caption) + (rf"~\cite{{{citation}}}" if citation else ""),
        alignments="".join("r" if is_numeric else "l" for is_numeric in content.numeric),
        head=" & ".join(map(escape, content.head)) + r" \\",
        # A bracket at the start of a row would be read as an option of the line break before it.
        rows="\n".join(rf"{{}}{row} \\" for row in rows),
        remarks="".join(f"\\par{remark}.\n" for remark in MARKUP.remarks(content)),
    )


def escape(text: str) -> str:
    """Return any text so that LaTeX prints it as it is. Control characters become visible escapes such as ``\\n``."""
    escaped = visible(text).translate(str.maketrans(SPECIAL))
    # Two of these marks in a row would be joined into another character.
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)


MARKUP = Markup(escape, r"\textbf{{{}}}", r" {{\scriptsize {}}}", r"\textsuperscript{{{}}}")
