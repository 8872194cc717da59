"""The plan of a run, checked before any work: which diagnostic runs on which corpus and encoder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.plugins import CORPORA, DIAGNOSTICS, left_out
from embassay.core.samples.base import Text
from embassay.core.samples.checks import SAMPLES
from embassay.core.types import AnyCorpus, Corpus, Origin
from embassay.diagnostics.base import BaseDiagnostic
from embassay.reports.findings.advice import advice
from embassay.run.candidates import Candidates, RunEncoder, in_scoring_order, load_baselines, load_candidates
from embassay.run.cuts import by_name, check_cuts, limited, load_cuts
from embassay.run.loaders import builtin_names
from embassay.run.profiles import DEFAULT, diagnostics_of
from embassay.run.request import RunRequest
from embassay.run.resolve import NamedDiagnostic, encoder_list, load_corpus, load_diagnostic
from embassay.run.specs import Spec, as_spec
from embassay.run.steps import with_bases
from embassay.run.training_overlap import overlaps
from embassay.search.retrievers.base import Questions, Retriever

MAX_NAMED = 3
"""Notes on encoders that were left out, shown if no encoder remains."""
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

    @cached_property
    def version(self) -> str:
        """The version of the diagnostic's code."""
        return DIAGNOSTICS.version(self.name)


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

    @property
    def reference(self) -> str | None:
        """The label of the encoder that the others are compared with: that requested, or else the first."""
        for entry in self.entries:
            if entry.reference:
                return entry.label
        for entry in self.entries:
            if entry.is_candidate:
                return entry.label
        return None

    def price_of_questions(self, entry: RunEncoder, corpus: AnyCorpus) -> float | None:
        """Return what 1,000 questions of a corpus cost with all that answers them, estimated from their length.

        None where a price is not known. That of a service or a function which finds documents never is.
        """
        questions = Questions(corpus, corpus.samples)
        if not entry.retriever:
            if not entry.card.remote or entry.card.price is None:
                return entry.card.price if entry.card.remote else 0.0
            return entry.card.price * float(entry.encoder.estimate_tokens(questions.texts, "query").mean()) / 1000
        if not entry.retriever.parts:
            return None
        prices = [self.price_of_questions(self._entry_of[label], corpus) for label in entry.retriever.parts]
        if entry.retriever.spending:
            tokens = entry.retriever.tokens(questions)
            prices.append(entry.retriever.spending.cost_of(round(1000 * tokens / len(corpus.samples))))
        known = [price for price in prices if price is not None]
        return sum(known) if len(known) == len(prices) else None

    def built_on(self, label: str) -> list[Retriever]:
        """Return the retrievers that are built on a candidate."""
        return [entry.retriever for entry in self.entries if entry.retriever and label in entry.retriever.parts]

    @property
    def corpora(self) -> tuple[AnyCorpus, ...]:
        """The corpora; one whose documents are cut in several ways is there once for each."""
        return tuple({task.corpus.key: task.corpus for task in self.tasks}.values())

    @cached_property
    def _entry_of(self) -> dict[str, RunEncoder]:
        return {entry.label: entry for entry in self.entries}

    def origin(self, task: Task, entry: RunEncoder, fingerprint: str) -> Origin:
        """Return what identifies the scores of an encoder on a task.

        Parameters
        ----------
        fingerprint
            Of the encoder after it has learnt from the corpus, of a retriever with all that it is built on.
        """
        corpus, card = task.corpus, entry.card
        label = entry.label_on(corpus)
        parts = tuple(self._entry_of[part].label_on(corpus) for part in entry.parts)
        step, reference = entry.step, entry.reference
        if corpus.cut and not entry.whole:
            cuts = by_name(self.corpora)[corpus.name]
            asked = self.request.reference
            reference = bool(asked) and (label == asked or (entry.label == asked and corpus is cuts[0]))
            # The other cuts are steps on that of the reference, or on the first.
            base = next((cut for cut in cuts if any(one.label_on(cut) == asked for one in self.entries)), cuts[0])
            if not parts and label != entry.label_on(base):
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
            version=task.version,
            reference=reference,
            route=card.route,
            group=entry.group,
            published=entry.published_name,
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
    side_notes: list[str] = []
    for diagnostic in diagnostics:
        sides = getattr(DIAGNOSTICS.module(diagnostic.name), "SIDES", None)
        if sides and not were_chosen:
            tasks_of_sides, note = set_side_by_side(diagnostic.name, sides, corpora)
            tasks += tasks_of_sides
            side_notes.append(note)
    if will_score:
        tasks = [task for task in tasks if takes_its_corpus(task, were_chosen)]

    candidates = load_candidates(encoder_list(request.encoders), runtime, request.trust_remote_code)
    check_candidates(candidates, request, tasks, corpora)
    entries = list(candidates.entries)
    if request.baselines:
        entries += [entry for entry in load_baselines(entries, runtime) if suitable_tasks(entry, tasks)]
    if not entries:
        # Where no encoder was loaded, every note says why one was left out.
        reasons = f" ({'; '.join(candidates.notes[:MAX_NAMED])})" if candidates.notes else ""
        raise SpecError(f"no encoder to assay{reasons}; add one with -e, or drop --no-baselines")
    entries = with_bases(entries)
    in_scoring_order(entries)
    if request.reference:
        entries = with_reference(entries, request.reference, corpora)

    favoured = favoured_encoders(entries, corpora)
    favoured += overlaps(entries, corpora)
    corpus_notes = []
    for corpus in corpora:
        corpus_notes += [f"{corpus.name}: {note}" for note in (*corpus.notes, *advice(corpus))]
    encoder_notes = []
    for entry in entries:
        encoder_notes += [f"{entry.label}: {warning}" for warning in entry.card.warnings]
    without_vectors = list(unsuitable_for_lists(entries, tasks))
    return Plan(
        request,
        entries=tuple(entries),
        tasks=tuple(tasks),
        notes=(*candidates.notes, *side_notes, *corpus_notes, *encoder_notes, *favoured, *without_vectors),
        # embassay look prints the notes of corpora and encoders beside each of them.
        remarks=(*candidates.notes, *favoured, *without_vectors),
    )


def load_diagnostics(specs: Sequence[str | Spec], profile: str = DEFAULT) -> list[NamedDiagnostic]:
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
    were_chosen = bool(specs)
    if not were_chosen:
        specs = diagnostics_of(profile)
    diagnostics: dict[str, NamedDiagnostic] = {}
    for source in specs:
        spec = as_spec(source, "diagnostic")
        if spec.head in diagnostics:
            raise SpecError(f"duplicate diagnostic {spec.head!r}")
        with left_out(asked=were_chosen):
            diagnostics[spec.head] = load_diagnostic(spec)
    return list(diagnostics.values())


def load_corpora(request: RunRequest, diagnostics: Sequence[NamedDiagnostic]) -> list[AnyCorpus]:
    """Load the corpora of a request, or the built-in ones that the diagnostics need, and limit them.

    Raises
    ------
    SpecError
        If nothing reads the shape of a corpus, or two have the same name.
    """
    corpora = load_given_corpora(request)
    if not corpora:
        corpora = load_builtin_corpora(diagnostics)
    for corpus in corpora:
        check_shape(corpus, diagnostics)
    check_labels("corpora", "-c", labels_and_keys(corpora))
    for cuts in by_name(corpora).values():
        check_cuts(cuts)
    if request.limit is None:
        return corpora
    return limited(corpora, request.limit, request.seed)


def labels_and_keys(corpora: Iterable[AnyCorpus]) -> list[tuple[str, str]]:
    """Return the labels that corpora take, each twice: ``docs`` once for all its cuts, and ``docs,passages=100``."""
    varying = dict.fromkeys(corpus.name for corpus in corpora if corpus.cut)
    return [(label, label) for label in (*varying, *(corpus.key for corpus in corpora))]


def load_given_corpora(request: RunRequest) -> list[AnyCorpus]:
    """Load the corpora of a request, and check those that were made in Python."""
    corpora: list[AnyCorpus] = []
    for source in corpus_sources(request):
        if isinstance(source, Corpus):
            source.check()
            corpora.append(source)
        else:
            corpora += load_cuts(source, follow_links=request.follow_links)
    return corpora


def corpus_sources(request: RunRequest) -> list[str | Spec | AnyCorpus]:
    """Return the corpora of a request as a list, also where one stands alone."""
    if isinstance(request.corpora, (str, Corpus)) or not isinstance(request.corpora, Iterable):
        return [request.corpora]
    return list(request.corpora)


def load_builtin_corpora(diagnostics: Sequence[NamedDiagnostic]) -> list[AnyCorpus]:
    """Load the built-in corpora of the shapes that the diagnostics need."""
    shapes = {diagnostic.method.shape for diagnostic in diagnostics}
    corpora: list[AnyCorpus] = []
    for name in builtin_names():
        shape = getattr(CORPORA.module(name), "SHAPE", "")
        if ANY in shapes or shape in shapes:
            # A corpus of another package whose plug-in fails is left out, with a warning.
            with left_out():
                corpora.append(load_corpus(name))
    if not corpora:
        raise SpecError(
            f"there is no built-in corpus of the required shape ({needed_shapes(diagnostics)}); add one with -c"
        )
    return corpora


def needed_shapes(diagnostics: Iterable[NamedDiagnostic]) -> str:
    """Return which shape each diagnostic needs, for a message."""
    return ", ".join(f"{diagnostic.name} needs {diagnostic.method.shape}" for diagnostic in diagnostics)


def suitable_tasks(entry: RunEncoder, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Return the tasks that an encoder can be scored on, each on the corpus as the encoder reads it.

    An encoder that is the same on all cuts of a corpus is scored on the first. One that reads whole documents is scored
    by rankings only, and where each cut has several passages: elsewhere it adds nothing.
    """
    suitable = [task for task in tasks if entry.suits(task.corpus)]
    if entry.retriever or entry.whole:
        suitable = [task for task in suitable if task.diagnostic.scores_rankings]
    if not entry.is_same_on_all_cuts:
        return tuple(suitable)
    cuts_of = by_name({task.corpus.key: task.corpus for task in tasks}.values())
    suitable = [task for task in suitable if task.corpus is cuts_of[task.corpus.name][0]]
    if not entry.whole:
        return tuple(suitable)
    return tuple(
        replace(task, corpus=task.corpus.whole)
        for task in suitable
        if all(cut.is_cut for cut in cuts_of[task.corpus.name])
    )


def unsuitable_for_lists(entries: Iterable[RunEncoder], tasks: Sequence[Task]) -> Iterator[str]:
    """Yield a note for each retriever on the diagnostics that leave it out, because they need vectors."""
    for entry in entries:
        if entry.retriever:
            suitable = suitable_tasks(entry, tasks)
            names = dict.fromkeys(task.name for task in tasks if entry.suits(task.corpus))
            for task in suitable:
                names.pop(task.name, None)
            if names:
                yield f"{entry.label}: has no vectors, so it is left out of {', '.join(names)}"


def distinct_texts(corpora: Iterable[AnyCorpus]) -> tuple[Text, ...]:
    """Return the distinct (role, text) of corpora, in the order in which they are first seen."""
    return tuple(dict.fromkeys(chain.from_iterable(corpus.texts() for corpus in corpora)))


def check_shape(corpus: AnyCorpus, diagnostics: Sequence[NamedDiagnostic]) -> None:
    """Refuse a shape that no diagnostic needs; otherwise only the diagnostics for any shape would run, silently.

    Raises
    ------
    UnknownNameError
        If the shape is not known.
    """
    if corpus.shape in SAMPLES or corpus.shape in {diagnostic.method.shape for diagnostic in diagnostics}:
        return
    # A diagnostic of another package may need a shape of its own, whether it was chosen or not.
    shapes = {diagnostic.method.shape for diagnostic in load_diagnostics([], "research")}
    shapes = (shapes | SAMPLES.keys()) - {ANY}
    if corpus.shape not in shapes:
        raise UnknownNameError(f"shape of corpus {corpus.name!r}", str(corpus.shape), shapes)


def check_labels(kind: str, flag: str, labels: Iterable[tuple[str, str]]) -> None:
    """Raise SpecError if a label occurs twice.

    Parameters
    ----------
    kind, flag
        What the labels belong to, and its flag, for the message.
    labels
        Each label with the spec that it belongs to.
    """
    seen: set[str] = set()
    for label, spec in labels:
        if label in seen:
            remedy = f"{flag} NAME={spec}"
            if spec.startswith("object:"):
                remedy = "ea.encoder(object, name=…)"
            raise SpecError(f"two {kind} have the label {label!r}; rename one: {remedy}")
        seen.add(label)


def make_tasks(diagnostics: Sequence[NamedDiagnostic], corpora: Sequence[AnyCorpus], chosen: bool) -> list[Task]:
    """Pair diagnostics with the corpora that they read, those for any shape last.

    Parameters
    ----------
    chosen
        Whether the diagnostics were requested by name; only then do those run that compare two corpora. For a profile
        see :func:`set_side_by_side`.

    Raises
    ------
    SpecError
        If a chosen diagnostic has no corpus, or nothing reads a corpus.
    """
    of_one_shape = [diagnostic for diagnostic in diagnostics if diagnostic.method.shape != ANY]
    of_any_shape = [diagnostic for diagnostic in diagnostics if diagnostic.method.shape == ANY]
    tasks: list[Task] = []
    for diagnostic in (*of_one_shape, *of_any_shape):
        readable = [corpus for corpus in corpora if diagnostic.method.shape in (corpus.shape, ANY)]
        tasks += [Task(diagnostic.name, diagnostic.method, corpus, diagnostic.options) for corpus in readable]
    # The corpora that are read as one of a pair only.
    joined_names: set[str] = set()
    if chosen:
        for diagnostic in diagnostics:
            if pair := diagnostic.method.pair:
                tasks.append(joined_task(diagnostic, pair, corpora))
                joined_names.update(pair)
        check_each_has_a_corpus(diagnostics, tasks)
    for corpus in corpora:
        if corpus.name not in joined_names and not any(task.corpus is corpus for task in tasks):
            raise SpecError(
                f"corpus {corpus.name!r} has the shape {corpus.shape}, which no diagnostic of this run reads: "
                f"{needed_shapes(diagnostics)}; choose one with -d, or all with --profile research"
            )
    return tasks


def check_each_has_a_corpus(diagnostics: Iterable[NamedDiagnostic], tasks: Iterable[Task]) -> None:
    """Raise SpecError for a diagnostic without a task."""
    names = {task.name for task in tasks}
    for diagnostic in diagnostics:
        if diagnostic.name not in names:
            shape = diagnostic.method.shape
            raise SpecError(f"diagnostic {diagnostic.name!r} needs a corpus of shape {shape}; add one with -c")


def joined_task(diagnostic: NamedDiagnostic, pair: tuple[str, str], corpora: Sequence[AnyCorpus]) -> Task:
    """Return the task of a diagnostic on the two corpora that it compares, which it joins into one.

    Parameters
    ----------
    pair
        The names of the two corpora.

    Raises
    ------
    UnknownNameError
        If one of the corpora is not in the run.
    """
    corpus_of = {corpus.name: corpus for corpus in corpora}
    for name in pair:
        if name not in corpus_of:
            raise UnknownNameError(f"corpus of diagnostic {diagnostic.name!r}", name, corpus_of)
    with DIAGNOSTICS.guarded(diagnostic.name):
        joined = diagnostic.method.join(*(corpus_of[name] for name in pair))
    return Task(diagnostic.name, diagnostic.method, joined, diagnostic.options)


def set_side_by_side(name: str, sides: Mapping[str, str], corpora: Sequence[AnyCorpus]) -> tuple[list[Task], str]:
    """Return the task of a diagnostic that compares two corpora, in a profile, and a note on what it compares.

    Parameters
    ----------
    sides
        By option what the first and the second corpus of the run are taken as.
    """
    first, second = sides.values()
    if len(corpora) != 2 or any(corpus.cut for corpus in corpora):
        options = ",".join(f"{option}=LABEL" for option in sides)
        return [], (
            f"{name} is left out: it compares two corpora, {first} and {second}; this run does not have exactly two. "
            f"To name them: -d {name},{options}"
        )
    labels = [corpus.name for corpus in corpora]
    diagnostic = load_diagnostic(Spec(name, options=dict(zip(sides, labels, strict=True))))
    try:
        # Among diagnostics that are chosen by name it runs as one that compares two corpora.
        tasks = make_tasks([diagnostic], corpora, chosen=True)
    except SpecError as error:
        return [], f"{name} is left out: {error}"
    return tasks, f"{name} takes {labels[0]} as {first} and {labels[1]} as {second}, in the order of -c"


def takes_its_corpus(task: Task, chosen: bool) -> bool:
    """Let a diagnostic check its corpus before any work, and return whether the task can run.

    A diagnostic of another package whose check fails is left out, unless it was chosen by name.

    Raises
    ------
    InputError
        If the diagnostic cannot use the corpus.
    """
    with left_out(asked=chosen), DIAGNOSTICS.guarded(task.name):
        task.diagnostic.check(task.corpus)
        return True
    # Reached if the check failed: left_out turns the error into a warning.
    return False


def check_candidates(
    candidates: Candidates, request: RunRequest, tasks: Sequence[Task], corpora: Sequence[AnyCorpus]
) -> None:
    """Refuse equal labels, an unknown label after --trust-remote-code, and an encoder that suits no task."""
    entries = candidates.entries
    check_labels("encoders", "-e", [(entry.label, entry.card.spec) for entry in entries])
    unknown = set(request.trust_remote_code) - candidates.labels
    if unknown:
        raise UnknownNameError("label after --trust-remote-code", min(unknown), candidates.labels)
    for entry in entries:
        if not suitable_tasks(entry, tasks):
            raise SpecError(why_unsuited(entry, tasks, corpora))


def why_unsuited(entry: RunEncoder, tasks: Sequence[Task], corpora: Sequence[AnyCorpus]) -> str:
    """Return why an encoder suits no task, and what to do."""
    for corpus in corpora:
        if corpus.stored_documents:
            return (
                f"encoder {entry.label!r} cannot encode the documents of corpus {corpus.name!r}, whose texts are "
                f"not at hand; use -e vectors:{corpus.stored_documents.vectors.folder}, or encode them with this "
                "encoder into another folder (embassay encode)"
            )
    shapes = ", ".join(entry.card.shapes)
    if not any(entry.suits(corpus) for corpus in corpora):
        return f"encoder {entry.label!r} needs a corpus of shape {shapes}; add one with -c"
    # The corpora suit it, but their diagnostics join them into one of another shape.
    diagnostics = ", ".join(dict.fromkeys(task.name for task in tasks))
    return (
        f"encoder {entry.label!r} cannot be used with {diagnostics}, only with diagnostics of shape {shapes}: "
        "leave it out, or add one of these with -d (see 'embassay list diagnostics')"
    )


def with_reference(entries: Sequence[RunEncoder], label: str, corpora: Sequence[AnyCorpus]) -> list[RunEncoder]:
    """Return the entries, with the encoder marked that the others are compared with.

    Parameters
    ----------
    label
        The label of an encoder, or of an encoder on a cut of a corpus: ``m,passages=100``.
    """
    # The label of the encoder for each label that the user may write: "m,passages=100" -> "m", "m" -> "m". The message
    # about an unknown label lists them in this order.
    encoder_of: dict[str, str] = {}
    candidates = [entry for entry in entries if entry.is_candidate]
    for entry in candidates:
        encoder_of |= {entry.label_on(corpus): entry.label for corpus in corpora}
    encoder_of |= {entry.label: entry.label for entry in candidates}
    if label not in encoder_of:
        hint = "--reference takes the label of an encoder from -e."
        raise UnknownNameError("reference encoder", label, list(encoder_of), hint)
    reference = encoder_of[label]
    return [replace(entry, reference=entry.label == reference) for entry in entries]


def favoured_encoders(entries: Sequence[RunEncoder], corpora: Iterable[AnyCorpus]) -> list[str]:
    """Return a warning for each encoder that a corpus was filtered with: the comparison favours it."""
    warnings: list[str] = []
    for corpus in corpora:
        filters = {model_name(spec) for spec in corpus.filtered_with}
        favoured = [entry.label for entry in entries if model_name(entry.card.spec) in filters]
        warning = (
            f"{corpus.name} was filtered with this encoder, so the comparison favours it; "
            "compare it with others on another corpus"
        )
        warnings += [f"{label}: {warning}" for label in favoured]
    return warnings


def model_name(spec: str) -> str:
    """Return the model that a spec names, without scheme, organisation and options, in lower case."""
    # "st:sentence-transformers/LaBSE,dim=64" -> "labse"
    head = spec.partition(",")[0].removeprefix("st:")
    return head.rpartition("/")[2].lower()
