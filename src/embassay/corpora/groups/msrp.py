"""The Microsoft Research Paraphrase corpus as released, as groups: a folder with its train and test files, or one file.

Dolan & Brockett (2005). Tab-separated, quotes are ordinary characters: Quality, #1 ID, #2 ID, #1 String,
#2 String. Groups are the components of the pairs of Quality 1, with the sentence IDs as nodes, as White et al. (2015,
section 4.1) made them; sentences are in order of ascending ID, unchanged. A group is named after its smallest ID.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.formatting import counted
from embassay.core.samples.shapes import Grouped, closure
from embassay.core.tables.records import has_columns, read_table
from embassay.core.tables.rows import TableRow, Text, Whole, YesNo, column
from embassay.core.types import Corpus
from embassay.corpora.groups.large_groups import corpus_of
from embassay.corpora.io.folders import has_file

SHAPE = "groups"
FILES = ("msr_paraphrase_train.txt", "msr_paraphrase_test.txt")
recognises = has_columns("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String", least=3)
recognises_folder = has_file(*FILES)


class JudgedPair(TableRow):
    """Two sentences, and whether people judged them paraphrases."""

    quality: YesNo = column("Quality")
    first_id: Whole = column("#1 ID")
    second_id: Whole = column("#2 ID")
    first: Text = column("#1 String")
    second: Text = column("#2 String")


def load(source: str, name: str) -> Corpus[Grouped]:
    """Read the corpus as released.

    Parameters
    ----------
    source
        Path of a folder with both files, which are read together, or of one file in their format.

    Raises
    ------
    SourceError
        With file, line and field, for a missing file, a different header, ragged rows, a Quality other than 0 or 1,
        an ID that is not a whole number, and empty sentences.
    """
    path = Path(source)
    files = [path / file for file in FILES] if path.is_dir() else [path]
    rows = [row for file in files for row in read_table(file, is_quoted=False).select(JudgedPair)]
    paraphrases = [(row.first_id, row.second_id) for row in rows if row.quality]
    text_of = {row.first_id: row.first for row in rows} | {row.second_id: row.second for row in rows}
    samples = [Grouped(str(number), text_of[number], str(group)) for number, group in closure(paraphrases).items()]
    notes = [f"{counted(len(rows), 'pair')}, {len(paraphrases):,} of them paraphrases (Quality 1)"]
    if path.name in FILES:
        notes.append("only one of the two released files; published figures are for both, so pass their folder")
    return corpus_of(name, path, samples, notes)
