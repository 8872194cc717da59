r"""The tables of the report for LaTeX, a file for each.

Any text is printed as it is. A document that includes the files needs ``\usepackage{booktabs,adjustbox}``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Template

from embassay.core.formatting import visible
from embassay.reports.tables import Table
from embassay.run.finished import FinishedRun
from embassay.run.outputs.exhibits import cell_text, exhibits, remark_lines
from embassay.run.outputs.formats import Export

HOLDS = "table"
SPECIAL = dict(
    line.split()
    for line in r"""
\ \textbackslash{}
{ \{
} \}
$ \$
& \&
# \#
% \%
_ \_
~ \textasciitilde{}
^ \textasciicircum{}
< \textless{}
> \textgreater{}
| \textbar{}
" \textquotedblright{}
` \textasciigrave{}
− \ensuremath{-}
× \ensuremath{\times}
√ \ensuremath{\surd}
≤ \ensuremath{\leq}
≥ \ensuremath{\geq}
± \ensuremath{\pm}
→ \ensuremath{\rightarrow}
‖ \ensuremath{\Vert}
∩ \ensuremath{\cap}
∪ \ensuremath{\cup}
² \ensuremath{^2}
° \ensuremath{^\circ}
α \ensuremath{\alpha}
δ \ensuremath{\delta}
Δ \ensuremath{\Delta}
ε \ensuremath{\varepsilon}
θ \ensuremath{\theta}
ρ \ensuremath{\rho}
τ \ensuremath{\tau}
ψ \ensuremath{\psi}
φ \ensuremath{\varphi}
""".strip().splitlines()
)
"""LaTeX for characters that have a meaning of their own there, or that its fonts lack."""
TABLE = Template(r"""$signatures\begin{table}[ht]
\centering\footnotesize
\caption{$caption}\label{tab:$name}
\begin{adjustbox}{max totalsize={\textwidth}{0.8\textheight}}
\begin{tabular}{@{}$alignments@{}}
\toprule
{}$head \\
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
    for exhibit in exhibits(finished.result):
        texts[f"{exhibit.name}.tex"] = table(exhibit.name, exhibit.caption, exhibit.table, exhibit.signatures)
    return Export(texts)


def table(name: str, caption: str, content: Table, signatures: Sequence[str]) -> str:
    """Return a table with a caption, and a label with its name, below what its numbers depend on."""
    rows = [" & ".join(escape(cell_text(cell, content)) for cell in row) for row in content.rows]
    return TABLE.substitute(
        name=name,
        signatures="".join(f"% {visible(signature)}\n" for signature in signatures),
        caption=escape(caption),
        alignments="".join("r" if is_numeric else "l" for is_numeric in content.numeric),
        head=" & ".join(map(escape, content.head)),
        # A bracket at the start of a row would be read as an option of the command before it.
        rows="\n".join(rf"{{}}{row} \\" for row in rows),
        remarks="".join(f"\\par {escape(remark)}\n" for remark in remark_lines(content)),
    )


def escape(text: str) -> str:
    """Return any text so that LaTeX prints it as it is. Control characters become visible escapes such as ``\\n``."""
    escaped = "".join(SPECIAL.get(character, character) for character in visible(text))
    # Two of these marks in a row would be joined into another character.
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)
