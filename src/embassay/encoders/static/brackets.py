"""Bracketed parses, Penn Treebank style: ``(S (NP (DT the) (NN shop)) (VP (VBZ is) (ADJP (JJ open))))``.

The first word after a bracket is its label, unless a bracket comes first. Source: Marcus, Santorini, Marcinkiewicz
(1993), "Building a large annotated corpus of English: the Penn Treebank".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from embassay.encoders.static.trees import Nesting, Tree

EMPTY = "-NONE-"
"""The label of what is no word: a trace."""
ESCAPED = {
    "-lrb-": "(",
    "-rrb-": ")",
    "-lsb-": "[",
    "-rsb-": "]",
    "-lcb-": "{",
    "-rcb-": "}",
    "``": '"',
    "''": '"',
}
"""How treebanks write brackets and quotation marks, lower-cased."""
_PART = re.compile(r"[()]|[^\s()]+")


@dataclass
class _Bracket:
    label: str | None = None
    parts: int = 0


def read(line: str) -> Tree:
    """Read one bracketed parse; its words are lower-cased, traces are left out.

    Raises
    ------
    ValueError
        For what is none, with what is wrong.
    """
    reader, parts = _Reader(), _PART.findall(line)
    for place, part in enumerate(parts):
        if place and not reader.stack:
            raise ValueError(f"a bracketed parse goes on after its last bracket, with {part!r}")
        reader.take(part, after_opening=place > 0 and parts[place - 1] == "(")
    if reader.stack:
        number = len(reader.stack)
        raise ValueError(f"{number} bracket{'s do' if number > 1 else ' does'} not close; close every bracket")
    return Tree(tuple(reader.words), reader.nesting.shape())


class _Reader:
    """Reads part by part; how deep brackets nest does not matter."""

    def __init__(self) -> None:
        self.stack: list[_Bracket] = []
        self.words: list[str] = []
        self.nesting = Nesting()

    def take(self, part: str, after_opening: bool) -> None:
        if part == "(":
            if self.stack:
                self.stack[-1].parts += 1
            self.stack.append(_Bracket())
            self.nesting.open()
        elif not self.stack:
            raise ValueError(f"not a bracketed parse: it begins with {part!r}, not with a bracket")
        elif part == ")":
            self._close()
        elif after_opening:
            self.stack[-1].label = part
        else:
            self._word(part)

    def _close(self) -> None:
        bracket = self.stack.pop()
        if not bracket.parts:
            shown = f"({bracket.label or ''})"
            raise ValueError(f"the bracket {shown} holds no word; write (LABEL word)")
        self.nesting.close()

    def _word(self, part: str) -> None:
        self.stack[-1].parts += 1
        if self.stack[-1].label == EMPTY:
            return
        word = part.lower()
        self.words.append(ESCAPED.get(word, word))
        self.nesting.leaf()
