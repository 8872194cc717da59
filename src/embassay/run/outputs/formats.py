"""What ``embassay report`` writes from the folder of a finished run.

A format is a file of ``run/outputs/kinds``, or an entry point of another package in the group ``embassay.formats``. Its
module says in ``HOLDS`` what its folder holds, or in ``FILE`` the name of its only file, and has the function
``write(finished, place)``, whose keyword-only parameters are its options. :func:`write_files` is for those that make
all files before the first one is written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

from embassay.core.errors import EmbassayError, OutputError, SourceError, reason_of
from embassay.core.store.canonical import write, write_with
from embassay.core.store.paths import output_path
from embassay.run.finished import FinishedRun, finished_run
from embassay.run.items import Items, items_in

LOG = logging.getLogger(__name__)
Content = bytes | Callable[[BinaryIO], object]
"""The content of a file, or what writes it."""


@dataclass(frozen=True)
class Export:
    """The files of an export, before they are written.

    Attributes
    ----------
    contents
        By the name of the file.
    count
        How many tables or figures there are; 0 where the files are counted.
    notes
        What was left out, and what a reader of the files must know.
    is_partial
        Whether an encoder is missing because its figures could not be made.
    """

    contents: Mapping[str, Content]
    count: int = 0
    notes: Sequence[str] = ()
    is_partial: bool = False


@dataclass(frozen=True)
class Written:
    """The file, or the folder of files, that an export has written; ``count`` and so on as in ``Export``."""

    path: Path
    count: int = 1
    notes: Sequence[str] = ()
    is_partial: bool = False


@contextmanager
def drawn_from(run: Path) -> Iterator[None]:
    """Turn an unexpected error into one message: in an edited result, parts that belong together may not fit."""
    try:
        yield
    except (EmbassayError, OSError):
        raise
    except Exception as error:
        LOG.debug("a result cannot be drawn", exc_info=True)
        reason = f"cannot be drawn ({reason_of(error)}); if its files were edited, repeat the run's command"
        raise SourceError(reason, run) from None


def write_again(run: Path, out: Path | None, style: str, kind: ModuleType, **options: bool) -> Written:
    """Write a finished run in a format.

    Parameters
    ----------
    out
        The file or folder; by default one in the folder of the run.
    style
        The name of the format as users write it, and of the default folder.
    kind
        The module of the format.
    options
        Those of its function ``write``.
    """
    file = getattr(kind, "FILE", "")
    finished, place = _run_and_path(run, out, style, file or style, is_folder=not file)
    written: Written = kind.write(finished, place, **options)
    return written


def write_files(finished: FinishedRun, place: Path, make: Callable[[FinishedRun], Export]) -> Written:
    """Write the files of an export into a folder, after all of them are made."""
    with drawn_from(finished.folder.path):
        export = make(finished)
    for name, content in export.contents.items():
        if callable(content):
            write_with(place / name, content)
        else:
            write(place / name, content)
    return Written(place, export.count or len(export.contents), export.notes, export.is_partial)


def _run_and_path(run: Path, out: Path | None, style: str, name: str, *, is_folder: bool) -> tuple[FinishedRun, Path]:
    """Return the run, and the file or folder to write: by default one of this name in the folder of the run."""
    # A path that cannot be written is refused before the run is read.
    chosen = output_path(out) if out else None
    finished = finished_run(run)
    path = chosen or finished.folder.path / name
    if is_folder and path.exists() and not path.is_dir():
        raise OutputError(f"{path}: is a file; --format {style} writes a folder, name another one with -o")
    if path.is_dir() and not is_folder:
        raise OutputError(f"{path}: is a folder; --format {style} writes a file, name one with -o")
    return finished, path


def encoded(texts: Mapping[str, str]) -> dict[str, Content]:
    """Return the contents of text files by name."""
    # A lone surrogate, which a label may contain, cannot be encoded.
    return {name: text.encode("utf-8", "replace") for name, text in texts.items()}


def items_of(finished: FinishedRun) -> Items:
    """Return the single items of a run.

    Raises
    ------
    SourceError
        If its folder has no scores that this version can read, or a corpus cannot be read again.
    """
    items = items_in(finished.folder)
    if not items.tasks:
        place = finished.folder.path / "scores"
        raise SourceError("no scores of this version of Embassay are here; repeat the run's command", place)
    return items
