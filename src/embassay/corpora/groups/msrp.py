"""The Microsoft Research Paraphrase corpus as released, as groups: a folder with its train and test files, or one file.

Dolan & Brockett (2005). Tab-separated, quotes are ordinary characters: Quality, #1 ID, #2 ID, #1 String,
#2 String. Groups are the components of the pairs of Quality 1, with the sentence IDs as nodes, as White et al. (2015,
section 4.1) made them; sentences are in order of ascending ID, unchanged. A group is named after its smallest ID.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.data import MSRP
from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.samples.groups import Grouped, closure
from embassay.core.tables.records import rows_with_header
from embassay.core.tables.rows import FileRow
from embassay.core.tables.tables import first_line
from embassay.core.types import Corpus
from embassay.corpora.groups.large_groups import as_msrp, corpus_of
from embassay.corpora.io.folders import Listing, entries

SHAPE = "groups"
FILES = ("msr_paraphrase_train.txt", "msr_paraphrase_test.txt")
HEADER = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    cells = {cell.strip() for cell in first_line(head).split("\t")}
    return len(cells & set(HEADER)) > 2


def recognises_folder(path: Path) -> bool:
    """Return whether a folder contains one of the released files."""
    return any(entry.name in FILES for entry in entries(path))


def load(source: str, name: str, *, licence: str = "", follow_links: bool = False) -> Corpus[Grouped]:
    """Read the corpus as released.

    Parameters
    ----------
    source
        Path of a folder with both files, which are read together, or of one file in their format.
    licence
        The licence of the files, as the user states it; the released folder is recognised by its content.
    follow_links
        Follow symbolic links in the folder; otherwise they are left out.

    Raises
    ------
    SourceError
        With file, line and field, for a missing file, a different header, ragged rows, a Quality other than 0 or 1,
        an ID that is not a whole number or has two sentences, and empty sentences.
    """
    path = Path(source)
    files = [path]
    listing = Listing(follow_links)
    if path.is_dir():
        listing.require(path, FILES, f"the released folder has {' and '.join(FILES)}")
        files = [path / file for file in FILES]
    pairs = 0
    paraphrases: list[tuple[int, int]] = []
    # By ID: the text, and where it first appears.
    sentences: dict[int, tuple[str, str]] = {}
    for file in files:
        for row in rows_with_header(file, HEADER, "\t"):
            quality = row.values["Quality"].strip()
            if quality not in {"0", "1"}:
                raise row.error(f"must be 0 or 1, is {quality[:100]!r}", "Quality")
            pairs += 1
            # Sentences of pairs that are not paraphrases are read too, because an ID must have one text in all rows.
            pair = _number(row, 1, sentences), _number(row, 2, sentences)
            if quality == "1":
                paraphrases.append(pair)
    if not pairs:
        raise SourceError("the table has no rows", path)
    groups = closure(paraphrases)
    samples = [Grouped(str(number), sentences[number][0], str(group)) for number, group in groups.items()]
    notes = [f"{counted(pairs, 'pair')}, {len(paraphrases):,} of them paraphrases (Quality 1)"]
    if path.name in FILES:
        notes.append("only one of the two released files; published figures are for both, so pass their folder")
    notes += listing.notes()
    corpus = corpus_of(name, "msrp", path, samples, licence=licence, notes=notes)
    if corpus.fingerprint == MSRP:
        return as_msrp(corpus, "this is the corpus as released, train and test together")
    return corpus


def _number(row: FileRow, which: int, sentences: dict[int, tuple[str, str]]) -> int:
    """Return the ID of the first or second sentence of a row, and remember its text and place.

    Raises
    ------
    SourceError
        If another sentence has the same ID.
    """
    column = f"#{which} ID"
    number, text = row.whole(column), row.text(f"#{which} String")
    known, place = sentences.setdefault(number, (text, f"line {row.line} of {row.path.name}"))
    if known != text:
        raise row.error(f"{number} is also the ID of a different sentence on {place}; correct one of them", column)
    return number
