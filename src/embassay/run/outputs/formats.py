"""What ``embassay report`` writes from the folder of a finished run.

A format is a file of ``run/outputs/kinds``, or an entry point of another package in the group ``embassay.formats``. Its
module has the function ``export(finished)``, whose keyword-only parameters are its options, and says in ``HOLDS`` what
its folder holds, or in ``FILE`` the name of its only file. Another file of that suffix must not be lost where the
module has a ``MARKER``: only a file that begins with it is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

from embassay.core.errors import EmbassayError, OutputError, SourceError, reason_of
from embassay.core.store.canonical import write, write_with
from embassay.core.store.paths import output_path
from embassay.run.finished import finished_run

Content = str | Callable[[BinaryIO], object]
"""The content of a file, or what writes it."""


@dataclass(frozen=True)
class Export:
    """The files of an export, before they are written.

    Attributes
    ----------
    contents
        By the name of the file.
    notes
        What was left out, and what a reader of the files must know.
    is_partial
        Whether an encoder is missing because its figures could not be made.
    """

    contents: Mapping[str, Content]
    notes: Sequence[str] = ()
    is_partial: bool = False


def write_again(run: Path, out: Path | None, style: str, kind: ModuleType, **options: bool) -> tuple[Export, Path]:
    """Write a finished run in a format, after all its files are made; return them, and the file or folder.

    Parameters
    ----------
    out
        The file or folder; by default one in the folder of the run.
    style
        The name of the format as users write it, and of the default folder.
    kind
        The module of the format.
    options
        Those of its function ``export``.

    Raises
    ------
    SourceError
        If the run is none, did not finish, or cannot be drawn.
    OutputError
        If the place cannot be written to or holds something else, or the run has nothing for the format.
    """
    finished = finished_run(run)
    file = getattr(kind, "FILE", "")
    place = output_path(out) if out else finished.folder.path / (file or style)
    if place.is_file() and not place.read_bytes().startswith(getattr(kind, "MARKER", "").encode()):
        raise OutputError(f"{place}: exists and was not written by --format {style}; name another file with -o")
    try:
        export: Export = kind.export(finished, **options)
    except (EmbassayError, OSError):
        raise
    except Exception as error:
        # In an edited result, parts that belong together may not fit.
        reason = f"cannot be drawn ({reason_of(error)}); if its files were edited, repeat the run's command"
        raise SourceError(reason, finished.folder.path) from error
    for name, content in export.contents.items():
        path = place if file else place / name
        if isinstance(content, str):
            # A lone surrogate, which a label may contain, cannot be encoded.
            write(path, content.encode("utf-8", "replace"))
        else:
            write_with(path, content)
    return export, place
