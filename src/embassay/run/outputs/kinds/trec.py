"""The right documents (qrels) and the rankings (run files) of retrieval, for trec_eval."""

from __future__ import annotations

from pathlib import Path

from embassay.core.store.files import default_folder
from embassay.run.finished import FinishedRun
from embassay.run.outputs.exhibits import file_name
from embassay.run.outputs.formats import Content, Export, Written, items_of, write_files
from embassay.run.outputs.trec import make_rankings, qrels

HOLDS = "file"


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the files, after all of them are made."""
    return write_files(finished, place, export)


def export(finished: FinishedRun) -> Export:
    """Make the right documents and the rankings of a run's retrieval in the format of TREC.

    Raises
    ------
    OutputError
        If the run has no retrieval, or no encoder's vectors are available.
    SourceError
        If a corpus of the run cannot be read again.
    """
    similarities = {encoder.name: encoder.similarity for encoder in finished.result.encoders}
    rankings, notes, left_out = make_rankings(items_of(finished), similarities, default_folder(), finished.folder.path)
    contents = dict[str, Content]()
    # Labels may have characters that file names cannot have.
    corpus_names, encoder_names = set[str](), set[str]()
    corpus_file = {}
    encoder_file = {}
    for ranking in rankings:
        corpus = ranking.corpus
        if corpus.name not in corpus_file:
            corpus_file[corpus.name] = file_name([corpus.name], corpus_names)
            contents[f"{corpus_file[corpus.name]}.qrels"] = qrels(corpus)
        if ranking.encoder not in encoder_file:
            encoder_file[ranking.encoder] = file_name([ranking.encoder], encoder_names)
        contents[f"{corpus_file[corpus.name]}.{encoder_file[ranking.encoder]}.run"] = ranking.write
    notes += [f"left out: {reason}" for reason in left_out]
    return Export(contents, notes=notes, is_partial=bool(left_out))
