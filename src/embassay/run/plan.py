"""The plan of a run, checked before any work: which diagnostic runs on which corpus and encoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.grouping import grouped
from embassay.core.plugins import CORPORA, DIAGNOSTICS
from embassay.core.samples.base import Text
from embassay.core.types import AnyCorpus, Corpus, Origin
from embassay.diagnostics.base import BaseDiagnostic
from embassay.reports.findings.advice import advice
from embassay.run.candidates import (
    RunEncoder,
    in_scoring_order,
    load_baselines,
    load_candidates,
    with_bases,
)
from embassay.run.cuts import by_name, check_cuts, limited, load_cuts
from embassay.run.profiles import DEFAULT, diagnostics_of
from embassay.run.request import RunRequest
from embassay.run.resolve import (
    CorpusInput,
    CorpusInputs,
    NamedDiagnostic,
    builtin_names,
    labelled,
    load_corpus,
    load_diagnostic,
)
from embassay.run.specs import Spec, as_spec
from embassay.run.training_overlap import overlaps

ANY = "any"
"""The shape of a diagnostic that reads the texts of any corpus."""


@dataclass(frozen=True)
class Task:
    """One diagnostic on one corpus.

    Attributes
    ----------
    name
        The name of the diagnostic.
    options
        The options of the diagnostic, as they were given.
    """

    name: str
    diagnostic: BaseDiagnostic
    corpus: AnyCorpus
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """The names of diagnostic and corpus, with its cut; no two tasks have the same."""
        return self.name, self.corpus.key


@dataclass(frozen=True)
class Plan:
    """Everything that a run needs.

    Attributes
    ----------
    notes
        Assumptions, and what was left out.
    remarks
        The notes that belong to no corpus and no encoder: which encoders are left out, and why.
    """

    request: RunRequest = field(repr=False)  # Its specs may hold passwords.
    entries: tuple[RunEncoder, ...]
    tasks: tuple[Task, ...]
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def tasks_of(self, entry: RunEncoder) -> tuple[Task, ...]:
        """Return the tasks that an encoder can be scored on."""
        return suitable_tasks(entry, self.tasks)

    def candidates_of(self, entry: RunEncoder) -> dict[str, list[AnyCorpus]]:
        """Return by label each candidate that an encoder is, with the corpora that are cut in its way."""
        return grouped(corpora_of(self.tasks_of(entry)), entry.label_on)

    @property
    def corpora(self) -> tuple[AnyCorpus, ...]:
        """The corpora; one whose documents are cut in several ways is there once for each."""
        return corpora_of(self.tasks)

    def origin(self, task: Task, entry: RunEncoder, fingerprint: str) -> Origin:
        """Return what identifies the scores of an encoder on a task.

        Parameters
        ----------
        fingerprint
            Of the encoder after it has learnt from the corpus, of a retriever with all that it is built on.
        """
        corpus, card, requested = task.corpus, entry.card, self.request.reference
        label, step = entry.label_on(corpus), entry.step
        entry_of = {one.label: one for one in self.entries}
        parts = tuple(entry_of[part].label_on(corpus) for part in entry.parts)
        base = corpus
        if corpus.cut:
            # The other cuts are steps on that of the reference, or on the first.
            cuts = by_name(self.corpora)[corpus.name]
            base = next((cut for cut in cuts if any(one.label_on(cut) == requested for one in self.entries)), cuts[0])
            if not parts and corpus is not base:
                parts, step = (entry.label_on(base),), "passages"
        return Origin(
            diagnostic=task.name,
            options=task.diagnostic.options,
            corpus=corpus.name,
            corpus_fingerprint=corpus.fingerprint,
            encoder=label,
            encoder_fingerprint=fingerprint,
            spec=card.spec,
            baseline=entry.baseline,
            is_chance=card.is_chance,
            version=DIAGNOSTICS.version(task.name),
            reference=corpus is base and requested in entry.labels_on(self.corpora),
            route=card.route,
            group=entry.group,
            published=entry.published,
            parts=parts,
            step=step,
        )


def prepare(request: RunRequest, *, will_score: bool = True) -> Plan:
    """Return the plan of a request: load all that it names, and check that it fits together.

    Parameters
    ----------
    will_score
        Whether anything will be scored. If not, no diagnostic checks its corpus.

    Raises
    ------
    InputError
        For the first invalid input; nothing has been written by then.
    """
    runtime = request.runtime()
    were_chosen = bool(request.diagnostics)
    diagnostics = load_diagnostics(request.diagnostics, request.profile)
    corpora = load_corpora(request, diagnostics)
    tasks = make_tasks(diagnostics, corpora, were_chosen)
    if will_score:
        for task in tasks:
            task.diagnostic.check(task.corpus)

    entries, notes = load_candidates(labelled(request.encoders), runtime, request.trust_remote_code)
    check_labels("encoders", "-e", (entry.label for entry in entries))
    for entry in entries:
        if not suitable_tasks(entry, tasks):
            shapes = ", ".join(entry.card.shapes)
            needed = f"of shape {shapes}" if shapes else "that has the texts of its documents"
            raise SpecError(
                f"encoder {entry.label!r} needs a corpus and a diagnostic {needed}: leave it out, or add them with -c "
                "and -d (see 'embassay list diagnostics')"
            )
    if request.baselines:
        entries += [entry for entry in load_baselines(entries, runtime) if suitable_tasks(entry, tasks)]
    if not entries:
        # Without encoders in the request, the note says why the default one was left out.
        raise SpecError(f"no encoder to assay ({'; '.join(notes)}); add one with -e, or drop --no-baselines")
    entries = with_bases(entries)
    in_scoring_order(entries)
    # The label of an encoder, or of an encoder on a cut of a corpus: m,passages=100.
    labels = set(chain.from_iterable(entry.labels_on(corpora) for entry in entries if entry.is_candidate))
    if request.reference and request.reference not in labels:
        hint = "--reference takes the label of an encoder from -e."
        raise UnknownNameError("reference encoder", request.reference, labels, hint)

    about_corpora = [f"{corpus.name}: {note}" for corpus in corpora for note in (*corpus.notes, *advice(corpus))]
    about_encoders = [f"{entry.label}: {warning}" for entry in entries for warning in entry.card.warnings]
    about_both = [*favoured_encoders(entries, corpora), *overlaps(entries, corpora)]
    about_both += unsuitable_for_lists(entries, tasks)
    return Plan(
        request,
        entries=tuple(entries),
        tasks=tuple(tasks),
        # The cuts of a corpus have most notes in common.
        notes=(*notes, *dict.fromkeys(about_corpora), *about_encoders, *about_both),
        # embassay look prints the notes of corpora and encoders beside each of them.
        remarks=(*notes, *about_both),
    )


def load_diagnostics(specs: Sequence[str | Spec], profile: str) -> list[NamedDiagnostic]:
    """Load the diagnostics that were chosen, or those of a profile.

    A diagnostic of a profile that another package provides is left out if it fails to load.

    Raises
    ------
    SpecError
        If a diagnostic occurs twice, or if there is a profile beside them.
    """
    if isinstance(specs, str):
        specs = [specs]
    if specs and profile != DEFAULT:
        raise SpecError(f"diagnostics are given by name; leave out the profile {profile!r} or the diagnostics")
    diagnostics: dict[str, NamedDiagnostic] = {}
    for source in specs or diagnostics_of(profile):
        spec = as_spec(source, "diagnostic")
        if spec.head in diagnostics:
            raise SpecError(f"duplicate diagnostic {spec.head!r}")
        diagnostics[spec.head] = load_diagnostic(spec)
    return list(diagnostics.values())


def load_corpora(request: RunRequest, diagnostics: Sequence[NamedDiagnostic]) -> list[AnyCorpus]:
    """Load the corpora of a request, or the built-in ones that the diagnostics need, and limit them.

    Raises
    ------
    SpecError
        If two have the same name, or no built-in corpus has the shape that a diagnostic needs.
    """
    corpora = load_given_corpora(request.corpora, follow_links=request.follow_links)
    if not corpora:
        shapes = {diagnostic.method.shape for diagnostic in diagnostics}
        for name in builtin_names():
            if shapes & {ANY, getattr(CORPORA.module(name), "SHAPE", "")}:
                corpora.append(load_corpus(name))
    if not corpora:
        raise SpecError(f"no built-in corpus has the required shape ({needed_shapes(diagnostics)}); add one with -c")
    # "docs" stands once for all its cuts, beside "docs,passages=100".
    names_of_cuts = dict.fromkeys(corpus.name for corpus in corpora if corpus.cut)
    check_labels("corpora", "-c", [*names_of_cuts, *(corpus.key for corpus in corpora)])
    for cuts in by_name(corpora).values():
        check_cuts(cuts)
    return limited(corpora, request.limit, request.seed)


def load_given_corpora(corpora: CorpusInputs, *, follow_links: bool) -> list[AnyCorpus]:
    """Load corpora from their sources, and check those that were made in Python."""
    loaded: list[AnyCorpus] = []
    for source in corpus_list(corpora):
        if isinstance(source, Corpus):
            source.check()
            loaded.append(source)
        else:
            loaded += load_cuts(source, follow_links=follow_links)
    return loaded


def corpus_list(corpora: CorpusInputs) -> Sequence[CorpusInput]:
    """Return the corpora of a request as a list, also where one stands alone."""
    if isinstance(corpora, str) or not isinstance(corpora, Sequence):
        return [corpora]
    return corpora


def needed_shapes(diagnostics: Iterable[NamedDiagnostic]) -> str:
    """Return which shape each diagnostic needs, for a message."""
    return ", ".join(f"{diagnostic.name} needs {diagnostic.method.shape}" for diagnostic in diagnostics)


def corpora_of(tasks: Iterable[Task]) -> tuple[AnyCorpus, ...]:
    """Return the corpora of some tasks; one that is cut in several ways is there once for each."""
    return tuple({task.corpus.key: task.corpus for task in tasks}.values())


def suitable_tasks(entry: RunEncoder, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Return the tasks that an encoder can be scored on.

    Random vectors are scored on the first cut of a corpus only.
    """
    cuts_of = by_name(corpora_of(tasks))
    suitable = []
    for task in tasks:
        is_new = not entry.card.is_chance or task.corpus is cuts_of[task.corpus.name][0]
        if entry.suits(task.corpus) and has_scores(entry, task) and is_new:
            suitable.append(task)
    return tuple(suitable)


def has_scores(entry: RunEncoder, task: Task) -> bool:
    """Return whether a diagnostic can score a candidate: a retriever has lists of documents only."""
    retriever, diagnostic = entry.retriever, task.diagnostic
    if retriever is None:
        return True
    # Those that are built on other candidates list what these do: passages too.
    return diagnostic.scores_rankings and bool(retriever.parts or not diagnostic.ranks_passages)


def unsuitable_for_lists(entries: Iterable[RunEncoder], tasks: Sequence[Task]) -> Iterator[str]:
    """Yield a note for each retriever on the diagnostics that leave it out."""
    for entry in entries:
        left_out = [task for task in tasks if entry.suits(task.corpus) and not has_scores(entry, task)]
        for needed, of_passages in (("vectors", False), ("lists of passages", True)):
            names = dict.fromkeys(task.name for task in left_out if task.diagnostic.ranks_passages == of_passages)
            if names:
                yield f"{entry.label}: has no {needed}, so it is left out of {', '.join(names)}"


def distinct_texts(corpora: Iterable[AnyCorpus]) -> tuple[Text, ...]:
    """Return the distinct (role, text) of corpora, in the order in which they are first seen."""
    return tuple(dict.fromkeys(chain.from_iterable(corpus.texts() for corpus in corpora)))


def check_labels(kind: str, flag: str, labels: Iterable[str]) -> None:
    """Raise SpecError if a label occurs twice.

    Parameters
    ----------
    kind, flag
        What the labels belong to, and its flag, for the message.
    """
    for label, number in Counter(labels).items():
        if number > 1:
            raise SpecError(f"two {kind} have the label {label!r}; give one another: {flag} LABEL=…")


def make_tasks(diagnostics: Sequence[NamedDiagnostic], corpora: Sequence[AnyCorpus], chosen: bool) -> list[Task]:
    """Pair diagnostics with the corpora that they read.

    Parameters
    ----------
    chosen
        Whether the diagnostics were requested by name; each must have a corpus then.

    Raises
    ------
    SpecError
        If a chosen diagnostic has no corpus, or nothing reads a corpus.
    """
    tasks: list[Task] = []
    # Those of two corpora come after all others.
    for diagnostic in sorted(diagnostics, key=lambda one: (one.method.pair is not None, one.method.shape == ANY)):
        method = diagnostic.method
        readable = [corpus for corpus in corpora if method.shape in (corpus.shape, ANY)]
        if not chosen:
            readable = [corpus for corpus in readable if method.suits(corpus)]
        elif method.pair:
            readable = [joined_corpus(diagnostic, corpora)]
        elif not readable:
            raise SpecError(f"diagnostic {diagnostic.name!r} needs a corpus of shape {method.shape}; add one with -c")
        tasks += [Task(diagnostic.name, method, corpus, diagnostic.options) for corpus in readable]
    read = {task.corpus.name for task in tasks}.union(*(task.diagnostic.pair or () for task in tasks))
    for corpus in corpora:
        if corpus.name not in read:
            raise SpecError(
                f"corpus {corpus.name!r} has the shape {corpus.shape}, which no diagnostic of this run reads: "
                f"{needed_shapes(diagnostics)}; choose one with -d, or all with --profile research"
            )
    return tasks


def joined_corpus(diagnostic: NamedDiagnostic, corpora: Sequence[AnyCorpus]) -> AnyCorpus:
    """Return the two corpora that a diagnostic compares, joined into one by it.

    Raises
    ------
    UnknownNameError
        If one of the corpora is not in the run.
    """
    pair = diagnostic.method.pair or ()
    corpus_of = {corpus.name: corpus for corpus in corpora}
    for name in pair:
        if name not in corpus_of:
            raise UnknownNameError(f"corpus of diagnostic {diagnostic.name!r}", name, corpus_of)
    return diagnostic.method.join(*(corpus_of[name] for name in pair))


def favoured_encoders(entries: Sequence[RunEncoder], corpora: Iterable[AnyCorpus]) -> Iterator[str]:
    """Yield a warning for each encoder that a corpus was filtered with: the comparison favours it."""
    for corpus in corpora:
        filters = {model_name(spec) for spec in corpus.filtered_with}
        for entry in entries:
            if model_name(entry.card.spec) in filters:
                yield (
                    f"{entry.label}: {corpus.name} was filtered with this encoder, so the comparison favours it; "
                    "compare it with others on another corpus"
                )


def model_name(spec: str) -> str:
    """Return the model that a spec names, without scheme, organisation and options, in lower case."""
    # "st:sentence-transformers/LaBSE,dim=64" -> "labse"
    head = spec.partition(",")[0].removeprefix("st:")
    return head.rpartition("/")[2].lower()
