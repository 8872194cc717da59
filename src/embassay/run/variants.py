"""Variants of one corpus: the same questions and right documents, with documents that are cut in several ways.

``docs=./docs,passages=[paragraph,100]`` is one corpus in two variants. Each is loaded and scored like a corpus of its
own, named ``docs,passages=paragraph`` and ``docs,passages=100``. When a diagnostic is summarised, their scores are put
together: each encoder on each variant is one candidate, ``m,passages=100``, on the corpus ``docs``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from embassay.core.errors import SpecError
from embassay.core.randomness import generator
from embassay.core.types import AnyCorpus, ItemScores, is_chance, reads_whole_documents
from embassay.run.resolve import load_corpus
from embassay.run.runs.items import item_hash
from embassay.run.specs import Spec, alternatives, as_spec, list_options
from embassay.stats.units import Ints, unit_codes

VARYING = ("passages",)
"""The options of a corpus that may be lists: those that change neither the questions nor their right documents."""


@dataclass(frozen=True)
class Variant:
    """Which variant of which corpus a corpus is.

    Attributes
    ----------
    name
        The name of the variant: ``docs,passages=100``.
    corpus
        The label that all variants have in the result: ``docs``.
    setting
        The options of this variant: ``passages=100``.
    """

    name: str
    corpus: str
    setting: str

    @classmethod
    def of(cls, corpus: AnyCorpus) -> Variant:
        """Return which variant a corpus is; a corpus that does not vary is its own variant with an empty setting."""
        if not corpus.variant_of:
            return cls(corpus.name, corpus.name, "")
        return cls(corpus.name, corpus.variant_of, corpus.name.removeprefix(f"{corpus.variant_of},"))

    def label(self, encoder: str, spec: str) -> str:
        """Return the label of an encoder on this variant; its own if it is the same on all variants."""
        if is_same_on_all_variants(spec):
            return encoder
        return joined_setting(encoder, self.setting)


def is_same_on_all_variants(spec: str) -> bool:
    """Return whether the scores of an encoder do not depend on how documents are cut, so that they are kept once."""
    return is_chance(spec) or reads_whole_documents(spec)


def joined_setting(*parts: str) -> str:
    """Join labels and settings with commas; empty ones are left out."""
    return ",".join(part for part in parts if part)


def load_variants(source: str | Spec, *, follow_links: bool = False) -> list[AnyCorpus]:
    """Load the corpus of a spec, or each variant where options are lists.

    Raises
    ------
    SpecError
        If an option that may not vary is a list, or a list is empty.
    SourceError
        If a file or folder cannot be read.
    """
    spec = as_spec(source, "corpus")
    lists = list_options(spec)
    for name, values in lists.items():
        if name in VARYING:
            continue
        # The name of a column may be in brackets: a single value, as in question=[text], is not a list.
        if isinstance(spec.options[name], list) or len(values) != 1:
            raise SpecError(
                f"corpus {spec.head!r}: option {name!r} cannot be a list; only {', '.join(VARYING)} can vary in a run"
            )
    if lists.keys().isdisjoint(VARYING):
        return [load_corpus(spec, follow_links=follow_links)]
    varying: dict[str, object] = {}
    fixed: dict[str, object] = {}
    for name, value in spec.options.items():
        options = varying if name in VARYING else fixed
        options[name] = value
    variants = []
    for variant_spec in alternatives(replace(spec, options=varying), "", "corpus"):
        # Without a label of the spec, that of an alternative is its setting: ",passages=100".
        setting = (variant_spec.label or "").removeprefix(",")
        options_of_variant = {**fixed, **variant_spec.options}
        one_spec = replace(variant_spec, label=spec.label, options=options_of_variant)
        corpus = load_corpus(one_spec, follow_links=follow_links)
        variants.append(replace(corpus, name=joined_setting(corpus.name, setting), variant_of=corpus.name))
    first, *others = variants
    passages = [document.passages for document in first.documents]
    if others and passages and all(passages == [one.passages for one in other.documents] for other in others):
        note = f"{', '.join(varying)}: all values give the same passages, so they cannot differ"
        variants[0] = replace(first, notes=(*first.notes, note))
    return variants


def check_variants(variants: Sequence[AnyCorpus]) -> None:
    """Raise SpecError unless all variants have the same questions, right documents and documents, each with its id."""
    first = variants[0]
    for other in variants[1:]:
        if _questions(other) != _questions(first) or _document_ids(other) != _document_ids(first):
            raise SpecError(
                f"corpus {first.variant_of!r}: {Variant.of(first).setting} and {Variant.of(other).setting} do not have "
                "the same questions and documents, so they cannot be compared; give questions=FILE with the ids of "
                "whole documents"
            )


def _questions(corpus: AnyCorpus) -> list[tuple[str, str]]:
    return [(sample.id, item_hash(sample)) for sample in corpus.samples]


def _document_ids(corpus: AnyCorpus) -> list[str]:
    return [document.id for document in corpus.documents]


def limited_variants(variants: Sequence[AnyCorpus], limit: int, seed: int) -> list[AnyCorpus]:
    """Keep at most ``limit`` randomly chosen units of a corpus, each whole, the same questions in each variant."""
    if limit < 1:
        raise SpecError(f"limit must be 1 or more, is {limit}")
    unit = variants[0].units
    if len(variants) > 1:
        unit = merged_units([corpus.units for corpus in variants])
    number = int(unit.max(initial=-1)) + 1
    if limit >= number:
        return list(variants)
    chosen_units = generator(seed, "limit", variants[0].fingerprint).choice(number, size=limit, replace=False)
    is_kept = np.isin(unit, chosen_units)
    note = f"limited to {limit} of {number} units, chosen at random with seed {seed}"
    smaller = []
    for corpus in variants:
        samples = tuple(itertools.compress(corpus.samples, is_kept))
        smaller.append(replace(corpus, samples=samples, notes=(*corpus.notes, note)))
    return smaller


def limited_corpora(corpora: Iterable[AnyCorpus], limit: int, seed: int) -> list[AnyCorpus]:
    """Keep at most ``limit`` randomly chosen units of each corpus, the same questions in all variants of one corpus."""
    limited: list[AnyCorpus] = []
    for variants in by_corpus(corpora).values():
        limited += limited_variants(variants, limit, seed)
    return limited


def by_corpus(corpora: Iterable[AnyCorpus]) -> dict[str, list[AnyCorpus]]:
    """Return by label the variants of each corpus; a corpus that does not vary is its own only variant."""
    groups: dict[str, list[AnyCorpus]] = {}
    for corpus in corpora:
        groups.setdefault(Variant.of(corpus).corpus, []).append(corpus)
    return groups


def always_cut(corpora: Iterable[AnyCorpus]) -> list[AnyCorpus]:
    """Return the corpora that cut documents in all their variants, so that none has whole documents."""
    cut: list[AnyCorpus] = []
    for variants in by_corpus(corpora).values():
        if all(corpus.is_cut for corpus in variants):
            cut += variants
    return cut


def _variant_of(reference: str, scores_of: Mapping[Variant, Sequence[ItemScores]]) -> Variant:
    """Return the variant that others are steps on: that of the reference, if its label names one; else the first."""
    for variant, scores in scores_of.items():
        origins = [one.origin for one in scores]
        if any(variant.label(origin.encoder, origin.spec) == reference for origin in origins):
            return variant
    return next(iter(scores_of))


def join_scores(
    scores_of: Mapping[Variant, Sequence[ItemScores]], reference: str
) -> dict[Variant, tuple[ItemScores, ...]]:
    """Return the scores of the variants of one corpus under the labels of the result, with common units.

    Parameters
    ----------
    scores_of
        By variant the scores of its encoders.
    reference
        The label of the reference; empty for the first candidate. The label of an encoder means its first variant.
    """
    variants = list(scores_of)
    if len(variants) == 1 and not variants[0].setting:
        return {variants[0]: tuple(scores_of[variants[0]])}
    all_scores = list(itertools.chain.from_iterable(scores_of.values()))
    # A diagnostic whose items are the texts, such as isotropy, has different items on each variant.
    has_common_items = all(np.array_equal(scores.item, all_scores[0].item) for scores in all_scores)
    common_unit = None
    if has_common_items:
        common_unit = merged_units([scores.unit for scores in all_scores])
    joined = {}
    base = _variant_of(reference, scores_of)
    on_base = {scores.origin.encoder for scores in scores_of[base]}
    for variant in variants:
        is_first = variant == variants[0]
        relabelled = []
        origins = [scores.origin for scores in scores_of[variant]]
        label_of = {origin.encoder: variant.label(origin.encoder, origin.spec) for origin in origins}
        for scores in scores_of[variant]:
            origin = scores.origin
            if is_same_on_all_variants(origin.spec) and not is_first:
                continue
            # "m" on "docs,passages=100" -> "m,passages=100" on "docs"
            label = label_of[origin.encoder]
            parts, step = tuple(label_of.get(part, part) for part in origin.parts), origin.step
            if not parts and variant != base and origin.encoder in on_base:
                parts, step = (base.label(origin.encoder, origin.spec),), "passages"
            is_reference = reference == label
            if is_first and reference == origin.encoder:
                is_reference = True
            new_origin = replace(
                origin, corpus=variant.corpus, encoder=label, reference=is_reference, parts=parts, step=step
            )
            unit = scores.unit
            if common_unit is not None:
                unit = common_unit
            relabelled.append(replace(scores, origin=new_origin, unit=unit))
        joined[variant] = tuple(relabelled)
    return joined


def by_encoder(joined: Mapping[Variant, Sequence[ItemScores]]) -> tuple[ItemScores, ...]:
    """Return all joined scores, the variants of one encoder next to each other."""
    scores_of_encoder: dict[str, list[ItemScores]] = {}
    for variant, variant_scores in joined.items():
        for scores in variant_scores:
            # "m,passages=100" -> "m"
            encoder = scores.origin.encoder.removesuffix(f",{variant.setting}")
            scores_of_encoder.setdefault(encoder, []).append(scores)
    return tuple(itertools.chain.from_iterable(scores_of_encoder.values()))


def merged_units(partitions: Sequence[Ints]) -> Ints:
    """Return (n,) units in which two items are together if they are in one unit of any partition.

    They are the connected components of a graph with a node for each item and for each unit of each partition, and an
    edge from each item to its units.

    Parameters
    ----------
    partitions
        Each (n,), the units of the same n items.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    number = len(partitions[0])
    # The nodes 0 … n-1 are the items; the units of each partition follow.
    nodes = number
    unit_nodes = []
    for partition in partitions:
        units, unit_of_item = np.unique(partition, return_inverse=True)
        unit_nodes.append(nodes + unit_of_item)
        nodes += len(units)
    ends = np.concatenate(unit_nodes)
    starts = np.tile(np.arange(number), len(partitions))
    edges = np.ones(len(starts), dtype=np.int8)
    graph = coo_array((edges, (starts, ends)), shape=(nodes, nodes))
    _, component = connected_components(graph, directed=False)
    # Number the units 0, 1, … without gaps.
    return unit_codes(component[:number])
