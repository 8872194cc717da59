"""JUnit XML, which services that run tests show: one test case for each thing that was checked."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
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


def junit_xml(suite_name: str, cases: Iterable[CheckedCase], notes: str = "") -> bytes:
    """Return a suite of test cases as JUnit XML; notes stand at its end."""
    suites = ET.Element("testsuites", name=suite_name)
    suite = ET.SubElement(suites, "testsuite", name=suite_name)
    for case in cases:
        element = ET.SubElement(suite, "testcase", classname=visible(f"embassay.{case.place}"), name=visible(case.name))
        if case.mark:
            ET.SubElement(element, case.mark, message=visible(case.sentence, keep="\n"))
        else:
            ET.SubElement(element, "system-out").text = visible(case.sentence, keep="\n")
    counts = {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error"}
    for name, elements in counts.items():
        count = str(len(suite.findall(elements)))
        suites.set(name, count)
        suite.set(name, count)
    # The outer element has no such attribute.
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    if notes:
        ET.SubElement(suite, "system-out").text = visible(notes)
    ET.indent(suites)
    xml: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"
