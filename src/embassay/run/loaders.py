"""Which loader reads a file or folder: by its content, and by options that only one loader has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from embassay.core.errors import SourceError, begun, listed
from embassay.core.plugins import CORPORA, left_out
from embassay.core.store.paths import source_path
from embassay.core.tables.records import ARRAY, columns_in, is_parquet, read_table
from embassay.core.tables.texts import BLANK, decoded
from embassay.run.specs import known_options

PEEK = 65_536
"""Characters after the first line that loaders recognise a file by."""
LONGEST_LINE = 16_000_000
MAX_SHOWN = 120
"""Characters that a message repeats of a file."""
USUAL_PRIORITY = 10
"""That of a loader of one format; loaders of any table or folder have a larger one."""
FILES = (
    "for a table, set first=, second= and score= for pairs, group= or label= for groups, questions= for documents; "
    "known forms: see 'embassay list corpora'; set loader= to choose one"
)
FOLDERS = (
    "unrecognised folder; known forms: documents (.txt, .md, .rst and .html files, with or without questions=FILE), "
    "beir (corpus.jsonl, queries.jsonl, qrels/), trec (a file with topics or queries in its name, one "
    "with qrels, and the documents), msrp (msr_paraphrase_train.txt, msr_paraphrase_test.txt), "
    "opinosis (phrases.txt, phrase_groups.csv); set loader= to choose one"
)


def builtin_names() -> tuple[str, ...]:
    """Return the names of the corpora that need no file and no folder: the loaders that say so (``BUILTIN``)."""
    return tuple(name for name, module in CORPORA.working().items() if getattr(module, "BUILTIN", False))


def find_loader(source: str, options: Mapping[str, object]) -> str:
    """Return the name of the loader of a source: a built-in corpus, a file or a folder.

    The loaders themselves recognise their formats; importing all of them takes about 70 ms.

    Raises
    ------
    SourceError
        If there is no such file, or no loader recognises it.
    """
    builtin = builtin_names()
    if source in builtin:
        return source
    path = source_path(source)
    if not path.exists():
        raise SourceError(f"no such file; built-in corpora: {', '.join(builtin)}", path)
    head = "" if path.is_dir() else _head(path)
    loader = _choose("recognises_folder", path, options) if path.is_dir() else _choose("recognises", head, options)
    if loader is None and path.is_dir():
        raise SourceError(FOLDERS, path)
    if loader is None:
        # A file may begin with a byte order mark.
        lines = [line for line in head.splitlines() if line.strip("\ufeff \t")]
        if not lines:
            raise SourceError("the file is empty", path, 1)
        if head.lstrip(BLANK).startswith("["):
            raise SourceError(ARRAY, path)
        what = f"its first line is {begun(lines[0], MAX_SHOWN)!r}"
        if lines[0].lstrip(BLANK).startswith("{") and (fields := columns_in(head)):
            what = f"an object with the fields {listed(sorted(fields))}"
        raise SourceError(f"unrecognised format ({what}); {FILES}", path, 1)
    return loader


def _choose(function: str, content: Path | str, options: Mapping[str, object]) -> str | None:
    """Return the loader that recognises the content, or the only one that the options fit; None if there is neither.

    A loader of one format is surer than options: SQuAD stays SQuAD with an option of tables. A loader of any table is
    not.

    Parameters
    ----------
    function
        The function of a loader to ask: ``recognises`` for files, ``recognises_folder`` for folders.
    content
        What the function takes: the beginning of a file, or the path of a folder.
    options
        The options that the user gave for the corpus.
    """
    priorities = {}
    for name, module in CORPORA.working().items():
        if hasattr(module, function):
            priorities[name] = getattr(module, "PRIORITY", USUAL_PRIORITY)
            if function == "recognises_folder":
                priorities[name] = getattr(module, "FOLDER_PRIORITY", priorities[name])
    in_order = sorted(priorities, key=lambda name: (priorities[name], name))
    by_content = next((name for name in in_order if _recognises(name, function, content)), None)
    if by_content is not None and priorities[by_content] <= USUAL_PRIORITY:
        return by_content
    fitting = [name for name in in_order if _options_fit(CORPORA.module(name), options)]
    return fitting[0] if len(fitting) == 1 else by_content


def _options_fit(module: ModuleType, options: Mapping[str, object]) -> bool:
    """Return whether a loader knows all options, and at least one of them tells that it is meant.

    A loader that shares options with another one lists those of its own in ``TOLD_BY``. Without the list, each of its
    options tells that it is meant.
    """
    known = known_options(module.load)
    telling = getattr(module, "TOLD_BY", known)
    return options.keys() <= known and not telling.isdisjoint(options)


def _recognises(name: str, function: str, content: Path | str) -> bool:
    """Return whether a loader recognises a file or folder; a loader of another package that fails is left out."""
    with left_out(), CORPORA.guarded(name):
        return bool(getattr(CORPORA.module(name), function)(content))
    # Reached if the function failed: left_out turns the error into a warning.
    return False


def _head(path: Path) -> str:
    """Return the first line of a file, however long, and what follows it; of a Parquet file a line of its columns."""
    if is_parquet(path):
        return "\t".join(read_table(path).names)
    with decoded(path, errors="replace") as file:
        return file.readline(LONGEST_LINE) + file.read(PEEK)
