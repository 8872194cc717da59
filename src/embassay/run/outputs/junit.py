"""JUnit XML, which services that run tests show: one test case for each thing that was checked."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from embassay.core.formatting import visible

Mark = Literal["", "failure", "error", "skipped"]
"""Why a case does not pass; empty for one that passes."""


class CheckedCase(NamedTuple):
    """One thing that was checked.

    Attributes
    ----------
    place
        The second half of its class name: ``retrieval.docs``.
    name
        What was checked there.
    mark
        Why it does not pass.
    sentence
        What was found.
    """

    place: str
    name: str
    mark: Mark
    sentence: str


def junit_xml(suite_name: str, cases: Sequence[CheckedCase], notes: str = "") -> bytes:
    """Return a suite of test cases as JUnit XML; notes stand at its end."""
    marks = Counter(case.mark for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(marks["failure"]), "errors": str(marks["error"])}
    suites = ET.Element("testsuites", {"name": suite_name, **counts})
    suite = ET.SubElement(suites, "testsuite", {**suites.attrib, "skipped": str(marks["skipped"])})
    for case in cases:
        element = ET.SubElement(suite, "testcase", classname=visible(f"embassay.{case.place}"), name=visible(case.name))
        sentence = visible(case.sentence, keep="\n")
        if case.mark:
            ET.SubElement(element, case.mark, message=sentence)
        else:
            ET.SubElement(element, "system-out").text = sentence
    if notes:
        ET.SubElement(suite, "system-out").text = visible(notes)
    ET.indent(suites)
    xml: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"
