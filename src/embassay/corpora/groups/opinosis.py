"""Opinosis, or MSRP, as White et al. released their paraphrase groups: phrases.txt and phrase_groups.csv.

White et al. (2015, section 4.2): sentences of Opinosis (Ganesan et al. 2010), grouped by hand under strict
bidirectional entailment. ``phrases.txt`` has one sentence a line; ``phrase_groups.csv`` has the header
phrase_index,paraphrase_group_index and one row for each sentence, both numbered from 0. Groups below three are dropped.
Their groups of MSRP have the same files and are recognised by their content.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.data import MSRP_GROUPED
from embassay.core.errors import SourceError, listed
from embassay.core.samples.groups import Grouped
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Row, Whole, column
from embassay.core.tables.texts import read_text
from embassay.core.types import Corpus
from embassay.corpora.groups.large_groups import as_msrp, corpus_of
from embassay.corpora.io.folders import Listing, has_file

SHAPE = "groups"
PHRASES, TABLE = "phrases.txt", "phrase_groups.csv"
recognises_folder = has_file(TABLE)


class GroupRow(Row):
    """The number of a sentence, and of its group."""

    index: Whole = column("phrase_index")
    group: Whole = column("paraphrase_group_index")


def load(source: str, name: str, *, follow_links: bool = False) -> Corpus[Grouped]:
    """Read a folder in the format of the released groups.

    Parameters
    ----------
    source
        Path of the folder.
    follow_links
        Follow symbolic links in the folder; otherwise they are left out.

    Raises
    ------
    SourceError
        With file, line and field, for missing files, empty lines between sentences, invalid numbers, numbers of no
        sentence, and a sentence without a group or with two.
    """
    path = Path(source)
    listing = Listing(follow_links)
    listing.require(path, (PHRASES, TABLE), f"it must have {PHRASES} and {TABLE}")
    # Not splitlines, which also splits at characters that may occur inside a sentence.
    phrases = [line.strip() for line in read_text(path / PHRASES).rstrip().split("\n")]
    if not all(phrases):
        problem = f"empty line; each line must be a sentence, because {TABLE} numbers the lines from 0"
        raise SourceError(problem, path / PHRASES, phrases.index("") + 1)
    groups: dict[int, str] = {}
    for row in read_table(path / TABLE).select(GroupRow):
        if row.index >= len(phrases):
            problem = f"there is no sentence {row.index}; {PHRASES} has {len(phrases):,} sentences, numbered from 0"
            raise row.error(problem, "index")
        if row.index in groups:
            raise row.error(f"sentence {row.index} already has a group", "index")
        groups[row.index] = str(row.group)
    missing = [index for index in range(len(phrases)) if index not in groups]
    if missing:
        raise SourceError(f"no row for the sentences {listed(missing)}", path / TABLE)
    samples = [Grouped(str(index), text, groups[index]) for index, text in enumerate(phrases)]
    corpus = corpus_of(name, path, samples, notes=listing.notes())
    # Both sets were released in the same format, so only the content tells them apart.
    if corpus.fingerprint == MSRP_GROUPED:
        return as_msrp(corpus, "these are the groups of MSRP as White et al. (2015) released them")
    return corpus
