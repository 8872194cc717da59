"""Classes of the package have what run code asks of a diagnostic: ``make lint`` checks this file with mypy."""

from embassay.diagnostics.base import BaseDiagnostic
from embassay.diagnostics.localization.localization import Localization
from embassay.diagnostics.shift import Shift


def diagnostics(localization: Localization, shift: Shift) -> None:
    of_groups: BaseDiagnostic = localization
    of_a_pair: BaseDiagnostic = shift
