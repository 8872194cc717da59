"""A folder of an STS task of 2012 to 2016 as released: ``STS.input.NAME.txt`` and its scores, ``STS.gs.NAME.txt``.

Agirre et al. (2012-2016). A line of an input has two sentences, separated by a tab, and perhaps their sources; the line
of the scores has a number from 0 to 5, or nothing for a pair that nobody scored. All inputs are one corpus, as in
Chiang et al. (2023, section 3.2) by way of SentEval; each is a subset.
"""

from __future__ import annotations

import re
from pathlib import Path

from embassay.corpora.io.folders import Listing, entries
from embassay.corpora.io.rows import FileRow
from embassay.corpora.io.texts import read_text
from embassay.errors import SourceError, quoted
from embassay.samples.pairs import Pair
from embassay.types import Corpus

SHAPE = "pairs"
INPUT = re.compile(r"STS(?:20\d\d)?\.input\.(.+)\.txt")
HIGHEST = 5


def recognises_folder(path: Path) -> bool:
    """Return whether a folder contains a released input."""
    return any(INPUT.fullmatch(entry.name) for entry in entries(path))


def load(source: str, name: str, *, licence: str = "", follow_links: bool = False) -> Corpus[Pair]:
    """Read the inputs of a folder with their scores.

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
        With file and line, for a missing file of scores, another number of lines, a line without two sentences, and
        a score that is not from 0 to 5.
    """
    folder = Path(source)
    inputs = {match[1]: match[0] for match in map(INPUT.fullmatch, sorted(e.name for e in entries(folder))) if match}
    listing = Listing(follow_links)
    samples = list[Pair]()
    for subset, file in inputs.items():
        gold = file.replace(".input.", ".gs.")
        listing.require(folder, (file, gold), "the scores of an input stand in a file of their own")
        # The last score may be empty, so only one line end is removed.
        lines, scores = (read_text(folder / each).removesuffix("\n").split("\n") for each in (file, gold))
        if len(lines) != len(scores):
            raise SourceError(f"has {len(scores):,} lines, {file} has {len(lines):,}", folder / gold)
        for number, (line, score) in enumerate(zip(lines, scores, strict=True), 1):
            first, _, rest = line.partition("\t")
            row = FileRow({"first": first, "second": rest.partition("\t")[0]}, folder / file, number)
            value = _score(score.strip(), folder / gold, number)
            samples.append(Pair(f"{subset}/{number}", row.text("first"), row.text("second"), value, subset))
    notes = (f"{len(inputs)} inputs: {', '.join(inputs)}", *listing.notes())
    return Corpus(name, SHAPE, tuple(samples), licence=licence or "unknown", loader="sts", notes=notes)


def _score(text: str, path: Path, line: int) -> float | None:
    """Return the score of a pair; None for none."""
    if not text:
        return None
    if not re.fullmatch(r"\d+(\.\d+)?", text) or float(text) > HIGHEST:
        raise SourceError(f"must be a number from 0 to {HIGHEST}, or empty, is {quoted(text)}", path, line)
    return float(text)
