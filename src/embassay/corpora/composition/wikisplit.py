"""WikiSplit: a sentence, a tab, and the two sentences it was split into, joined by `` <::::> ``.

Botha et al. (2018), "Learning To Split and Rephrase From Wikipedia Edit History". Read in reverse it gives unions:
the whole sentence says what the two parts say together.
"""

from __future__ import annotations

import re
from pathlib import Path

from embassay.core.errors import first_line_of
from embassay.core.samples.shapes import Composition
from embassay.core.tables.rows import Stripped
from embassay.core.types import Corpus
from embassay.corpora.composition.reading import CompositionRow, corpus_of
from embassay.corpora.io.headerless import headerless

SHAPE = "composition"
MARK = "<::::>"
LINE = re.compile(rf"(?!.*{MARK}.*{MARK})(?P<sentence>[^\t]*)\t(?P<first>[^\t]*){MARK}(?P<second>[^\t]*)")


class SplitRow(CompositionRow):
    """A sentence and the two that it was split into."""

    sentence: Stripped
    first: Stripped
    second: Stripped

    def samples(self) -> list[Composition]:
        """Return its sample."""
        return [Composition(self.key, "union", self.first, self.second, self.sentence)]


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    line = first_line_of(head)
    return line.count("\t") == 1 and MARK in line


def load(source: str, name: str) -> Corpus[Composition]:
    """Read a file in WikiSplit's format.

    Parameters
    ----------
    source
        Path of the tab-separated file.

    Raises
    ------
    SourceError
        With file and line, for a line that is not a valid split.
    """
    form = f"a sentence, a tab, and two sentences with {MARK} between them"
    return corpus_of(headerless(Path(source), LINE, form), name, SplitRow)
