"""A folder in TREC's format: topics and documents as lines of id, tab, text; judgements (qrels).

Topics are in a file whose name has ``topics`` or ``queries``, documents in all other ``.tsv`` files. Judgements are
lines of query, 0, document and grade in a file whose name has ``qrels``; a document is right if its grade is above 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from embassay.core.errors import SourceError, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.tables.jsonl import Ids, listed
from embassay.core.tables.rows import FileRow
from embassay.core.tables.tables import table_rows
from embassay.core.tables.texts import read_text
from embassay.core.types import Corpus
from embassay.corpora.io.folders import Listing, entries
from embassay.corpora.io.passages import Cutter, collapsed
from embassay.corpora.retrieval.corpus import About, corpus_of, cut_all, left_out
from embassay.corpora.retrieval.judgements import JUDGED, Judgement, judged_questions

SHAPE = "retrieval"
TABLE = ".tsv"


def recognises_folder(path: Path) -> bool:
    """Return whether a folder looks like this format, by its file names."""
    judgements, topics = judgements_and_topics(entries(path))
    return bool(judgements and topics)


def load(
    source: str,
    name: str,
    *,
    licence: str = "",
    about: About = "these-documents",
    passages: str = "document",
    language: str = "en",
    follow_links: bool = False,
) -> Corpus[Question]:
    """Read a folder in TREC's format.

    Parameters
    ----------
    source
        Path of the folder.
    licence
        The licence of the files, as the user states it.
    about
        What verdicts are about: ``new-documents``, other documents like these; ``these-documents``, these only, if each
        question was asked on its own.
    passages
        ``document``, ``paragraph``, ``sentence``, or a number of words; the closest passage of a document counts.
    language
        The language whose rules decide where a sentence ends.
    follow_links
        Follow symbolic links in the folder; otherwise they are left out.

    Raises
    ------
    SourceError
        With file, line and field, for files that are missing or not in this format.
    """
    path = Path(source)
    cut = Cutter(passages, language)
    listing = Listing(follow_links)
    files = sorted(listing.files(path))
    judgements, with_topics = judgements_and_topics(file for file in files if file.parent == path)
    judged = _only(judgements, path, "of judgements, with 'qrels' in its name", listing)
    topics = _only(with_topics, path, "of topics, with 'topics' or 'queries' in its name", listing)
    queries = _queries(topics)
    texts, notes_on_documents = _documents([file for file in files if file not in (judged, topics)])
    if not texts:
        raise SourceError(f"no document with a text; documents must be id, tab, text in {TABLE}", path)
    questions, notes_on_judgements = judged_questions(judged, _judgements(judged), queries, texts, about)
    notes = [f"topics: {topics.name}; judgements: {judged.name}; passages: {passages}"]
    notes += [*notes_on_judgements, *notes_on_documents, *listing.notes()]
    if about == "these-documents":
        notes.append(JUDGED)
    return corpus_of(name, "trec", cut_all(texts, cut), questions, licence=licence, notes=notes)


def _only(files: Sequence[Path], path: Path, what: str, listing: Listing) -> Path:
    """Return the only file of a kind, or raise SourceError."""
    if not files:
        raise SourceError(f"no file {what}{listing.hint()}", path)
    if len(files) > 1:
        raise SourceError(f"more than one file {what}: {listed(f.name for f in files)}; keep only one", path)
    return files[0]


def judgements_and_topics(files: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files that contain judgements, and those that contain topics, by their names."""
    judgements, topics = [], []
    for file in files:
        name = file.name.lower()
        if "qrels" in name and file.is_file():
            judgements.append(file)
        elif ("topics" in name or "queries" in name) and file.is_file():
            topics.append(file)
    return judgements, topics


def _documents(files: Iterable[Path]) -> tuple[dict[str, str], list[str]]:
    """Return the texts of the documents by id, which is unique over all files, and notes on what was left out."""
    texts: dict[str, str] = {}
    places: dict[str, str] = {}
    empty, others = list[str](), list[str]()
    for file in files:
        before = len(places)
        rows = _table(file) if file.suffix.lower() == TABLE else ()
        for line, name, text in rows:
            if name in places:
                raise SourceError(f"{quoted(name)} is already used in {places[name]}", file, line, "id")
            places[name] = f"{file.name} on line {line}"
            if text:
                texts[name] = text
            else:
                empty.append(f"{quoted(name)} on line {line} of {file.name}")
        if len(places) == before:
            others.append(file.name)
    notes = left_out(empty, "document left out: no text", "documents left out: no text")
    notes += left_out(others, "other file left out: it has no document", "other files left out: they have no document")
    return texts, notes


def _table(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield (line, id, text) of lines of id, tab, text; further tabs become spaces."""
    for line, (name, *texts) in table_rows(path, "\t"):
        if not texts or not name.strip():
            raise SourceError("must be an id, a tab and a text", path, line)
        yield line, name.strip(), " ".join(texts).strip()


def _queries(path: Path) -> dict[str, str]:
    """Return the queries by id."""
    ids = Ids(path, "id", numbered=False)
    queries: dict[str, str] = {}
    for line, name, text in _table(path):
        query = collapsed(text)
        if not query:
            raise SourceError("an empty text", path, line, "text")
        ids.add(name, line)
        queries[name] = query
    if not queries:
        raise SourceError("the file has no topics", path)
    return queries


def _judgements(path: Path) -> Iterator[Judgement]:
    """Yield the judgements of a file."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        cells = line.split()
        if not cells:
            continue
        if len(cells) != 4:
            raise SourceError(f"must be query, 0, document and grade; it has {len(cells)} columns", path, number)
        query, _, document, grade = cells
        yield number, query, document, FileRow({"grade": grade}, path, number).whole("grade", signed=True)
