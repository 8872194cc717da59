"""Opinosis, or MSRP, as White et al. released their paraphrase groups: phrases.txt and phrase_groups.csv.

White et al. (2015, section 4.2): sentences of Opinosis (Ganesan et al. 2010), grouped by hand under strict
bidirectional entailment. ``phrases.txt`` has one sentence a line; ``phrase_groups.csv`` has the header
phrase_index,paraphrase_group_index and one row for each sentence, both numbered from 0. Groups below three are dropped.
Their groups of MSRP have the same files.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.errors import SourceError, listed
from embassay.core.samples.shapes import Grouped
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Key, TableRow, Whole, column
from embassay.core.tables.texts import read_text
from embassay.core.types import Corpus
from embassay.corpora.groups.large_groups import corpus_of
from embassay.corpora.io.folders import has_file

SHAPE = "groups"
PHRASES, TABLE = "phrases.txt", "phrase_groups.csv"
recognises_folder = has_file(TABLE)


class PhraseRow(TableRow):
    """The number of a sentence, and of its group."""

    id: Key = column("phrase_index")
    group: Whole = column("paraphrase_group_index")


def load(source: str, name: str) -> Corpus[Grouped]:
    """Read a folder in the format of the released groups.

    Parameters
    ----------
    source
        Path of the folder.

    Raises
    ------
    SourceError
        With file, line and field, for missing files, empty lines between sentences, invalid numbers, numbers of no
        sentence, and a sentence without a group or with two.
    """
    path = Path(source)
    # Not splitlines, which also splits at characters that may occur inside a sentence.
    phrases = [line.strip() for line in read_text(path / PHRASES).rstrip().split("\n")]
    if not all(phrases):
        raise SourceError("an empty line; each line must be a sentence", path / PHRASES, phrases.index("") + 1)
    text_of = {str(number): text for number, text in enumerate(phrases)}
    group_of = {row.id: str(row.group) for row in read_table(path / TABLE).select(PhraseRow)}
    if wrong := sorted(group_of.keys() ^ text_of.keys()):
        problem = f"must have a row for each of the {len(phrases):,} sentences, numbered from 0; missing or too many: "
        raise SourceError(problem + listed(wrong), path / TABLE)
    samples = [Grouped(number, text, group_of[number]) for number, text in text_of.items()]
    return corpus_of(name, path, samples)
