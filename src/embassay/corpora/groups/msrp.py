"""The Microsoft Research Paraphrase corpus as released, as groups: a folder with its train and test files, or one file.

Dolan & Brockett (2005). Tab-separated, quotes are ordinary characters: Quality, #1 ID, #2 ID, #1 String,
#2 String. Groups are the components of the pairs of Quality 1, with the sentence IDs as nodes, as White et al. (2015,
section 4.1) made them; sentences are in order of ascending ID, unchanged. A group is named after its smallest ID.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from embassay.corpora.groups.shared import as_msrp, corpus_of, whole
from embassay.corpora.io.folders import Listing, entries
from embassay.corpora.io.jsonl import text_field
from embassay.corpora.io.tables import first_line, rows_with_header
from embassay.data import MSRP
from embassay.errors import SourceError
from embassay.formatting import counted
from embassay.samples.groups import Grouped, closure
from embassay.types import Corpus

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
    pairs = _Pairs()
    for file in files:
        for line, cells in rows_with_header(file, HEADER, "\t"):
            pairs.add(cells, file, line)
    if not pairs.number:
        raise SourceError("the table has no rows", path)
    groups = closure(pairs.paraphrases)
    samples = [Grouped(str(number), pairs.texts[number], str(group)) for number, group in groups.items()]
    notes = (*_notes(pairs, path), *listing.notes())
    corpus = corpus_of(name, "msrp", path, samples, licence=licence, notes=notes)
    if corpus.fingerprint == MSRP:
        return as_msrp(corpus, "this is the corpus as released, train and test together")
    return corpus


@dataclass
class _Pairs:
    """The pairs of both files.

    Attributes
    ----------
    number
        The number of pairs.
    paraphrases
        The IDs of the pairs with the same meaning.
    texts, places
        The sentences by ID, and where each first appears.
    """

    number: int = 0
    paraphrases: list[tuple[int, int]] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)
    places: dict[int, str] = field(default_factory=dict)

    def add(self, cells: list[str], path: Path, line: int) -> None:
        """Add a row."""
        quality = cells[0].strip()
        if quality not in {"0", "1"}:
            raise SourceError(f"must be 0 or 1, is {quality[:100]!r}", path, line, HEADER[0])
        # Sentences of pairs that are not paraphrases are read too, because an ID must have one text in all rows.
        first = self._sentence(cells, 1, path, line)
        second = self._sentence(cells, 2, path, line)
        self.number += 1
        if quality == "1":
            self.paraphrases.append((first, second))

    def _sentence(self, cells: list[str], side: int, path: Path, line: int) -> int:
        """Return the ID of a sentence, or raise SourceError if another sentence has the same ID.

        Parameters
        ----------
        side
            1 for the first sentence of the row, 2 for the second.
        """
        # The columns are: Quality, the two IDs, the two sentences.
        id_column, text_column = side, side + 2
        number = whole(cells[id_column], path, line, HEADER[id_column])
        text = text_field(cells[text_column], path, line, HEADER[text_column])
        if number not in self.texts:
            self.texts[number] = text
            self.places[number] = f"line {line} of {path.name}"
        elif self.texts[number] != text:
            problem = f"{number} is also the ID of a different sentence on {self.places[number]}; correct one of them"
            raise SourceError(problem, path, line, HEADER[id_column])
        return number


def _notes(pairs: _Pairs, path: Path) -> Iterator[str]:
    """Yield the numbers of pairs, and a warning if only one of the two files was read."""
    yield f"{counted(pairs.number, 'pair')}, {len(pairs.paraphrases):,} of them paraphrases (Quality 1)"
    if path.name in FILES:
        yield "only one of the two released files; published figures are for both, so pass their folder"
