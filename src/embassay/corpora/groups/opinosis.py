"""Opinosis, or MSRP, as White et al. released their paraphrase groups: phrases.txt and phrase_groups.csv.

White et al. (2015, section 4.2): sentences of Opinosis (Ganesan et al. 2010), grouped by hand under strict
bidirectional entailment. ``phrases.txt`` has one sentence a line; ``phrase_groups.csv`` has the header
phrase_index,paraphrase_group_index and one row for each sentence, both numbered from 0. Groups below three are dropped.
Their groups of MSRP have the same files and are recognised by their content.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.data import MSRP_GROUPED
from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.samples.groups import Grouped
from embassay.core.tables.records import rows_with_header
from embassay.core.tables.texts import read_text
from embassay.core.types import Corpus
from embassay.corpora.groups.large_groups import as_msrp, corpus_of
from embassay.corpora.io.folders import Listing, entries

SHAPE = "groups"
PHRASES, TABLE = "phrases.txt", "phrase_groups.csv"
HEADER = ("phrase_index", "paraphrase_group_index")


def recognises_folder(path: Path) -> bool:
    """Return whether a folder looks like this format, by its file names."""
    return any(entry.name == TABLE for entry in entries(path))


def load(source: str, name: str, *, licence: str = "", follow_links: bool = False) -> Corpus[Grouped]:
    """Read a folder in the format of the released groups.

    Parameters
    ----------
    source
        Path of the folder.
    licence
        The licence of the files, as the user states it.
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
    phrases = _phrases(path / PHRASES)
    groups = _groups(path / TABLE, len(phrases))
    _check_all_grouped(path / PHRASES, len(phrases), groups)
    samples = [Grouped(str(index), text, groups[index]) for index, text in enumerate(phrases)]
    corpus = corpus_of(name, "opinosis", path, samples, licence=licence, notes=listing.notes())
    # Both sets were released in the same format, so only the content tells them apart.
    if corpus.fingerprint == MSRP_GROUPED:
        return as_msrp(corpus, "these are the groups of MSRP as White et al. (2015) released them")
    return corpus


def _phrases(path: Path) -> list[str]:
    """Return the sentences, stripped; empty lines are allowed only at the end."""
    # Not splitlines, which also splits at characters that may occur inside a sentence.
    lines = [line.strip() for line in read_text(path).rstrip().split("\n")]
    if lines == [""]:
        raise SourceError("the file has no sentences", path)
    for number, line in enumerate(lines, 1):
        if not line:
            problem = f"empty line; each line must be a sentence, because {TABLE} numbers the lines from 0"
            raise SourceError(problem, path, number)
    return lines


def _groups(path: Path, phrases: int) -> dict[int, str]:
    """Return the name of the group by the number of the sentence."""
    groups: dict[int, str] = {}
    lines: dict[int, int | None] = {}
    for row in rows_with_header(path, HEADER, ","):
        index, group = row.whole(HEADER[0]), row.whole(HEADER[1])
        if index >= phrases:
            problem = f"there is no sentence {index}; {PHRASES} has {phrases:,} sentences, numbered from 0"
            raise row.error(problem, HEADER[0])
        if index in groups:
            raise row.error(f"sentence {index} already has a group on line {lines[index]}", HEADER[0])
        groups[index] = str(group)
        lines[index] = row.line
    return groups


def _check_all_grouped(path: Path, phrases: int, groups: dict[int, str]) -> None:
    """Raise SourceError for the first sentence without a group."""
    without = [index for index in range(phrases) if index not in groups]
    if not without:
        return
    problem = f"{TABLE} has no row for number {without[0]}"
    if len(without) > 1:
        problem += f", nor for {counted(len(without) - 1, 'other sentence')}"
    raise SourceError(problem, path, without[0] + 1)
