"""Classes of the package have the abilities that its protocols describe: ``make lint`` checks this file with mypy."""

from embassay.diagnostics.base import ChecksCorpus, DeclaresMetrics, ScoresInParallel, SetsSideBySide
from embassay.diagnostics.localization.localization import Localization
from embassay.diagnostics.shift import Shift
from embassay.models.base import (
    Batches,
    BatchInvariant,
    CountsTokens,
    Derived,
    KnowsWords,
    MayChange,
    Prepares,
    Relearns,
    Releases,
    Remote,
    Routed,
)
from embassay.models.exported.vectors import VectorsEncoder
from embassay.models.lexical.counts import ProjectedEncoder
from embassay.models.neural.model import Model
from embassay.models.objects.foreign import ObjectEncoder
from embassay.models.remote.api import ApiEncoder
from embassay.models.static.words import WordsEncoder


def encoders(
    hf: Model,
    api: ApiEncoder,
    words: WordsEncoder,
    vectors: VectorsEncoder,
    thing: ObjectEncoder,
    projected: ProjectedEncoder,
) -> None:
    batches: list[Batches] = [hf, api, vectors]
    invariant: BatchInvariant = hf
    counts: list[CountsTokens] = [hf]
    knows: KnowsWords = words
    changes: MayChange = thing
    derived: list[Derived] = [hf]
    prepares: list[Prepares] = [hf, words, vectors]
    relearns: Relearns = projected
    releases: list[Releases] = [hf, words]
    remote: Remote = api
    routed: list[Routed] = [hf, api, words]


def diagnostics(localization: Localization, shift: Shift) -> None:
    checks: ChecksCorpus = localization
    parallel: ScoresInParallel = localization
    headline: DeclaresMetrics = localization
    pair: SetsSideBySide = shift
