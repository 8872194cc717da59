"""The data of an adaptation: corpora of the domain, their split, the pre-training sentences, the tests, the rest."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from embassay.core.errors import InputError, SpecError
from embassay.core.formatting import counted
from embassay.core.result import MIN_UNITS
from embassay.core.samples.retrieval import AnsweredQuestion, Document, Question
from embassay.core.store.canonical import write
from embassay.core.types import AnyCorpus, Corpus, JsonObject
from embassay.corpora.io.passages import sentences
from embassay.corpora.queries.made import SOURCE
from embassay.diagnostics.metrics.metric import ranking_diagnostics
from embassay.run.cuts import limited
from embassay.run.outputs.exhibits import file_name
from embassay.run.plan import check_labels, load_given_corpora
from embassay.run.resolve import load_corpus
from embassay.training.negatives import normalised
from embassay.training.options import AdaptOptions
from embassay.training.splits import Split, contains_any, split

LEAST_TRAIN, LEAST_TEST = 50, 30
"""Minimum numbers of questions: fewer are too few to learn from, or for a test to show anything."""
BUILT_IN = ("handbook", "opposites", "edits", "vignettes")
"""General corpora that are added for each shape for which the user names no corpus."""


@dataclass(frozen=True)
class Material:
    """The data of trainings and tests.

    Attributes
    ----------
    corpora
        The corpora of the domain.
    union
        All of them joined into one. If there are several, ids are ``label/id``.
    split
        The training, dev and test questions of the union.
    held_out
        Ids of the held-out documents: with a split by context, those that answer test and dev questions.
    sentences
        Distinct sentences of the documents, for pre-training. None contains a test or dev question.
    tests
        For each corpus its test questions, with all of its documents.
    withheld
        How many sentences were left out because they contain a test or dev question.
    """

    corpora: tuple[Corpus[Question], ...]
    union: Corpus[Question]
    split: Split
    held_out: frozenset[str]
    sentences: tuple[str, ...]
    tests: tuple[Corpus[Question], ...]
    withheld: int

    def warnings(self) -> list[str]:
        """Return warnings before training, one sentence each.

        They name sentences that were left out, and tests with too few independent units for an interval.
        """
        warnings = []
        if self.withheld:
            warnings.append(
                f"left out of pre-training: {counted(self.withheld, 'sentence')} that contain a test or dev question "
                "word for word"
            )
        for test in self.tests:
            units = len(set(test.units.tolist()))
            if units < MIN_UNITS:
                warnings.append(
                    f"{test.name}: the test questions have only {units} independent units; with fewer than "
                    f"{MIN_UNITS} there is no interval and no verdict: use more documents, or --by question"
                )
        return warnings


def gather(corpora: Sequence[AnyCorpus], options: AdaptOptions) -> Material:
    """Join corpora, divide their questions, and check that there are enough.

    Raises
    ------
    InputError
        If a corpus has no questions, or too few are left for training or for a test.
    """
    if not corpora:
        raise SpecError("no corpus given; name one or more corpora of questions and documents with -c")
    check_labels("corpora", "-c", (corpus.name for corpus in corpora))
    for corpus in corpora:
        corpus.need_texts("adaptation")
        if corpus.shape != "retrieval":
            raise SpecError(
                f"corpus {corpus.name!r} has shape {corpus.shape}; adaptation needs questions and their right "
                "documents (shape retrieval)"
            )
        if corpus.loader == "documents" and corpus.source == SOURCE:
            raise InputError(
                f"corpus {corpus.name!r} has no questions, only {corpus.source}; add questions=FILE, or build such "
                "queries on purpose with 'embassay build retrieval'"
            )
    if options.limit is not None:
        corpora = limited(corpora, options.limit, options.seed)
    union = corpora[0] if len(corpora) == 1 else joined(corpora)
    parts = split(union, test=options.test, seed=options.seed, by=options.by)
    tested = {sample.id for sample in parts.test}
    tests = []
    for corpus in corpora:
        prefix = f"{corpus.name}/" if len(corpora) > 1 else ""
        samples = tuple(sample for sample in corpus.samples if prefix + sample.id in tested)
        note = f"{len(samples)} of {len(corpus.samples)} questions, held out from training"
        tests.append(replace(corpus, samples=samples, notes=(*corpus.notes, note)))

    # Documents may quote questions, as lists of frequent questions do.
    not_learnt = (*parts.test, *parts.dev)
    questions = {normalised(question.question) for question in not_learnt}
    all_sentences = dict.fromkeys(sentence for text in union.learnt() for _, sentence in sentences(text))
    learnt_sentences = tuple(sentence for sentence in all_sentences if not contains_any(sentence, questions))
    held_out = frozenset(name for question in not_learnt for name in question.right)
    answered = [sum(bool(question.right) for question in test.samples) for test in tests]
    if len(parts.train) < LEAST_TRAIN or min(answered) < LEAST_TEST:
        raise InputError(
            f"corpus {union.name!r}: {len(parts.train)} questions are left for training, and "
            f"{' and '.join(map(str, answered))} answered ones for the test; at least {LEAST_TRAIN} and {LEAST_TEST} "
            "are needed: use more questions, or another share of them for the test with --test"
        )
    return Material(
        tuple(corpora),
        union,
        parts,
        held_out if options.by == "context" else frozenset(),
        learnt_sentences,
        tuple(tests),
        len(all_sentences) - len(learnt_sentences),
    )


def joined(corpora: Sequence[AnyCorpus]) -> Corpus[Question]:
    """Return several corpora as one, ids and units as ``label/id``."""
    samples: list[Question] = []
    documents: list[Document] = []
    for corpus in corpora:
        # Two corpora may use the same ids, for example line numbers.
        prefix = f"{corpus.name}/"
        for sample in corpus.samples:
            right, units = (tuple(prefix + name for name in names) for names in (sample.right, sample.units))
            samples.append(replace(sample, id=prefix + sample.id, right=right, units=units))
        documents += (replace(document, id=prefix + document.id) for document in corpus.documents)
    name = " + ".join(corpus.name for corpus in corpora)
    return Corpus(name, "retrieval", tuple(samples), documents=tuple(documents))


def general_corpora(sources: Sequence[str | AnyCorpus], material: Material) -> tuple[AnyCorpus, ...]:
    """Return the general corpora: those that the user names, and built-in ones of the other shapes.

    Raises
    ------
    SpecError
        If a corpus has questions that are learnt, or has a shape that no diagnostic examines.
    """
    corpora = load_given_corpora(sources, follow_links=False)
    learnt = {normalised(question.question) for question in (*material.split.train, *material.split.dev)}
    shapes = ranking_diagnostics().keys()
    named_shapes = {corpus.shape for corpus in corpora}
    for corpus in corpora:
        if corpus.shape not in shapes:
            raise SpecError(
                f"corpus {corpus.name!r} has shape {corpus.shape}; --general takes the shapes {', '.join(shapes)}"
            )
        if shared := _count_shared(corpus, learnt):
            raise SpecError(
                f"corpus {corpus.name!r} cannot be a general corpus: {shared:,} of its {len(corpus.samples):,} "
                "questions are training or dev questions; remove them, or name another corpus with --general"
            )
    for built_in in map(load_corpus, BUILT_IN):
        if built_in.shape not in named_shapes and not _count_shared(built_in, learnt):
            corpora.append(built_in)
    return tuple(corpora)


def _count_shared(corpus: AnyCorpus, learnt: Collection[str]) -> int:
    """Return how many questions of a corpus are training or dev questions, compared in normalised form."""
    questions = (sample.question for sample in corpus.samples if isinstance(sample, Question))
    return sum(normalised(question) in learnt for question in questions)


def write_questions(folder: Path, material: Material) -> tuple[str, ...]:
    """Write each corpus in the form of the loader ``retrieval``, and return the sources of the test questions.

    Read back with ``split=test``, a file has the fingerprint of the corpus on which the variants are assayed, so that
    any encoder can be measured on it; all other questions have the split ``train``.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    sources = []
    taken = set[str]()
    for corpus, test in zip(material.corpora, material.tests, strict=True):
        test_ids = {sample.id for sample in test.samples}
        rows: list[JsonObject] = [
            {"document": document.id, "passages": document.passages, "spans": document.spans}
            for document in corpus.documents
        ]
        for sample in corpus.samples:
            row: JsonObject = {"id": sample.id, "question": sample.question, "right": sample.right}
            # Without its source, queries that a program made would pass for real questions.
            row |= {"gains": sample.gains or None, "unit": sample.units, "source": corpus.source or None}
            if isinstance(sample, AnsweredQuestion):
                row |= {"answers": sample.answers, "places": sample.places}
            rows.append({**row, "split": "test" if sample.id in test_ids else "train"})
        path = folder / f"{file_name(corpus.name, taken)}.jsonl"
        write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
        sources.append(f"{path},split=test")
    return tuple(sources)
