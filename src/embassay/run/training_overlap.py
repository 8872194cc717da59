"""Notes on models that were trained on a corpus of the run, according to their model cards.

Each line of ``FAMILIES`` is a data set: its names in model cards, and how a corpus of it is recognised. The label of
the corpus is not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from embassay.core.data import MSRP, MSRP_GROUPED, SEMANTONEG_V1
from embassay.core.formatting import names
from embassay.core.types import AnyCorpus
from embassay.reports.findings import templates
from embassay.run.candidates import RunEncoder

MAX_NAMED = 3
"""Names of a model card that a note repeats."""


@dataclass(frozen=True)
class DataFamily:
    """A data set, with all corpora that are made from its texts.

    Attributes
    ----------
    title
        Its name.
    datasets
        Patterns of its names in model cards: lower case, letters and digits only, without organisation.
    files
        Patterns of the name of its file or folder, lower case, without suffix.
    loaders
        Loaders that read nothing else.
    fingerprints
        Fingerprints of corpora that are made from it.
    item_ids
        A pattern that the ids of all its items match, and the ids of other data sets hardly ever.
    """

    title: str
    datasets: tuple[str, ...]
    files: tuple[str, ...] = ()
    loaders: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    item_ids: str = ""


# fmt: off
FAMILIES = (
    DataFamily("SQuAD", ("squad", "squad11", "squad20", "squadv*", "squadpairs", "xquad*"), ("squad*", "xquad*"),
           item_ids="5[0-9a-f]{23}"),
    DataFamily("MS MARCO", ("msmarco*",), ("msmarco*", "ms_marco*", "ms-marco*")),
    DataFamily("Natural Questions", ("naturalquestions*", "nq*"), ("nq", "nq-*", "natural_questions*")),
    DataFamily("HotpotQA", ("hotpotqa*", "hotpot"), ("hotpotqa*",)),
    DataFamily("TriviaQA", ("triviaqa*", "trivia"), ("triviaqa*", "trivia_qa*")),
    DataFamily("FEVER", ("fever*",), ("fever*",)),
    DataFamily("FiQA", ("fiqa*",), ("fiqa*",)),
    DataFamily("SciFact", ("scifact*",), ("scifact*",)),
    DataFamily("NFCorpus", ("nfcorpus*",), ("nfcorpus*",)),
    DataFamily("Quora question pairs", ("quora*", "qqp*"), ("quora*", "qqp*")),
    DataFamily("STS benchmark", ("stsb*", "stsbenchmark*"), ("stsb*", "sts-train", "sts-dev", "sts-test")),
    DataFamily("SICK", ("sick*",), ("sick*",)),
    DataFamily("MSRP (MRPC)", ("mrpc*", "msrp*", "microsoftresearchparaphrase*"), ("msr_paraphrase*",), ("msrp",),
           (MSRP, MSRP_GROUPED)),
    DataFamily("SNLI and MultiNLI", ("snli*", "multinli*", "mnli*", "allnli*", "nli"),
               ("snli*", "multinli*", "allnli*")),
    DataFamily("Opusparcus", ("opusparcus*",), ("semantoneg*",), (), (SEMANTONEG_V1,)),
    DataFamily("WikiSplit", ("wikisplit*",), ("wikisplit*",), ("wikisplit",)),
)
# fmt: on
"""To add a data set or a new name of one, edit a line here."""


def overlaps(entries: Sequence[RunEncoder], corpora: Sequence[AnyCorpus]) -> Iterator[str]:
    """Yield a note for each encoder and corpus where the encoder's model card names the corpus's data set."""
    for corpus in corpora:
        if corpus.builtin:
            continue
        for family in FAMILIES:
            evidence = recognised_by(family, corpus)
            if evidence:
                for entry in entries:
                    datasets = named_datasets(family, entry)
                    if datasets:
                        yield templates.TRAINED_ON.sentence(
                            encoder=entry.label,
                            datasets=names(datasets[:MAX_NAMED]),
                            corpus=corpus.name,
                            family=family.title,
                            evidence=evidence,
                        )


def named_datasets(family: DataFamily, entry: RunEncoder) -> list[str]:
    """Return the training data sets of an encoder that belong to a family, as its model card writes them."""
    datasets = []
    for name in () if entry.retriever else entry.encoder.training_datasets():
        # "sentence-transformers/all-NLI" -> "allnli"
        without_organisation = name.lower().rpartition("/")[2]
        plain = re.sub(r"[^a-z0-9]", "", without_organisation)
        if any(fnmatchcase(plain, pattern) for pattern in family.datasets):
            datasets.append(name)
    return datasets


def recognised_by(family: DataFamily, corpus: AnyCorpus) -> str:
    """Return the evidence that a corpus belongs to a family; empty where there is none."""
    if corpus.fingerprint in family.fingerprints:
        return "by its content"
    if family.item_ids:
        ids_match = all(re.fullmatch(family.item_ids, sample.id) for sample in corpus.samples)
        # A corpus of documents may have no items, which proves nothing.
        if corpus.samples and ids_match:
            return "by the ids of its items"
    if corpus.loader in family.loaders:
        return "by the format of its file"
    if not corpus.file:
        return ""
    path = Path(corpus.file)
    # A folder has no suffix: a dot belongs to its name.
    name = path.name if path.is_dir() else path.stem
    if any(fnmatchcase(name.lower(), pattern) for pattern in family.files):
        return f"by the name of its file, {path.name}"
    return ""
