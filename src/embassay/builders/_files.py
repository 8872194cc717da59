"""Three files that belong together: all of them are written, or none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from embassay.builders._samples import content_of
from embassay.errors import OutputError
from embassay.store.partial_files import partial_file


@dataclass(frozen=True)
class Places:
    """Where a test set and what belongs to it lie: ``NAME-card.md``, ``NAME-sheet.csv``, ``NAME-review.csv`` …"""

    corpus: Path

    @property
    def card(self) -> Path:
        """The data card, beside the corpus."""
        return self.corpus.with_name(f"{self.corpus.stem}-card.md")

    @property
    def sheet(self) -> Path:
        """The sheet for rating, beside the corpus."""
        return self.corpus.with_name(f"{self.corpus.stem}-sheet.csv")

    @property
    def review(self) -> Path:
        """The sheet of what rules cannot decide, where there is any."""
        return self.corpus.with_name(f"{self.corpus.stem}-review.csv")

    @property
    def answers(self) -> Path:
        """What a generator answered, where there was one: a build that was stopped goes on from it."""
        return self.corpus.with_name(f"{self.corpus.stem}-answers.jsonl")

    @property
    def written(self) -> tuple[Path, ...]:
        """What a build writes anew."""
        return self.corpus, self.card, self.sheet, self.review

    @property
    def every(self) -> tuple[Path, ...]:
        """All of them."""
        return *self.written, self.answers


def check_apart(places: Iterable[Path], sources: Iterable[object]) -> None:
    """Raise OutputError for a place that is one of the files that are read."""
    read = {Path(source).resolve() for source in sources if isinstance(source, (str, Path)) and str(source)}
    for path in places:
        if path.resolve() in read:
            raise OutputError(f"{path}: is what is built from; choose another name with -o")


def check_free(paths: Iterable[Path], overwrite: bool) -> None:
    """Raise OutputError for a file that is there already, unless it may be overwritten; for a folder in any case."""
    for path in paths:
        if path.is_dir():
            raise OutputError(f"{path}: is a folder; name a file with -o")
        if path.exists() and not overwrite:
            raise OutputError(f"{path}: is there already; choose another name with -o, or --overwrite")


def write_all(out: Path, corpus_lines: Iterable[str], card: str, sheet: bytes, review: bytes = b"") -> Places:
    """Write a corpus, its card, its sheet and, where there is one, its review, all or none; the corpus comes last.

    Parameters
    ----------
    out
        The file of the corpus; the others are named after it (:class:`Places`).
    corpus_lines
        JSON, a sample a line.

    Raises
    ------
    OutputError
        If a place cannot be written to.
    """
    places = Places(out)
    more = {places.review: review} if review else {}
    write_files({**more, places.sheet: sheet, places.card: card.encode(), places.corpus: content_of(corpus_lines)})
    return places


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files in this order: each is filled under another name before the first gets its own.

    Raises
    ------
    OutputError
        If a place cannot be written to; no file has been touched then, unless a disk fails in between.
    """
    filled = dict[Path, Path]()
    try:
        for path, content in contents.items():
            temporary = partial_file(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("xb") as file:
                filled[path] = temporary
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in filled.items():
            temporary.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        for temporary in filled.values():
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
