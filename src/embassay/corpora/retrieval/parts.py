"""Documents whose vectors embassay encode has stored in a folder of parts, with questions=FILE about them.

For more documents than fit into memory. Only an encoder ``vectors:FOLDER`` can be used: its vectors are searched where
they are. The texts of the documents are not read; a document is shown by its id.
"""

from __future__ import annotations

from embassay.core.errors import SpecError
from embassay.core.parts import PartVectors, is_folder_of_parts
from embassay.core.samples.retrieval import Question, StoredDocuments
from embassay.core.store.paths import source_path
from embassay.core.types import Corpus
from embassay.corpora.retrieval.corpus import About, corpus_of
from embassay.corpora.retrieval.questions import NEEDED, read_questions

SHAPE = "retrieval"
PRIORITY = 5
"""Tried before the loaders of folders of texts."""


recognises_folder = is_folder_of_parts


def load(
    source: str,
    name: str,
    *,
    questions: str = "",
    question: str = "",
    document: str = "",
    about: About = "new-documents",
) -> Corpus[Question]:
    """Read the questions, and find their right documents among the ids of the parts.

    Parameters
    ----------
    source
        Path of a folder of parts.
    questions
        Path of the table of questions (CSV, TSV, JSON lines, Parquet).
    question, document
        The column names of the questions, if they are not recognised.
    about
        What verdicts are about: ``new-documents``, other documents like these; ``these-documents``, these only, if each
        question was asked on its own.

    Raises
    ------
    SourceError
        With file, line and field, for files that cannot be read and for unknown documents; for a missing part.
    SpecError
        Without questions.
    """
    if not questions:
        raise SpecError(f"corpus {source!r}: a folder of 'embassay encode' needs {NEEDED}")
    vectors = PartVectors(source_path(source))
    samples, columns = read_questions(
        source_path(questions), vectors.rows_of, about, question=question, document=document
    )
    notes = ["documents: the rows of a folder of vectors, shown by their ids; their texts are not read", *columns]
    return corpus_of(name, StoredDocuments(vectors), samples, notes=notes)
