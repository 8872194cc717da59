"""Classes of the package have the abilities that its protocols describe: ``make lint`` checks this file with mypy."""

from embassay.diagnostics.base import ChecksCorpus, DeclaresMetrics, ScoresInParallel, SetsSideBySide
from embassay.diagnostics.localization.localization import Localization
from embassay.diagnostics.shift import Shift


def diagnostics(localization: Localization, shift: Shift) -> None:
    checks: ChecksCorpus = localization
    parallel: ScoresInParallel = localization
    headline: DeclaresMetrics = localization
    pair: SetsSideBySide = shift
