"""`embassay list diagnostics --cite` and CITATION.cff name the same papers."""

import re
from pathlib import Path

from embassay._version import YEAR, __version__
from embassay.cli.app import exit_code_of
from embassay.core.plugins import DIAGNOSTICS

ROOT = Path(__file__).parent.parent
METHODS = {"composition", "localization", "minimal_pairs", "negated_antonyms", "retrieval"}


def other_references():
    """Return by key the entries of statistics, measures, baselines and corpora."""
    text = (ROOT / "src/embassay/core/data/references.bib").read_text(encoding="utf-8")
    return {re.search(r"^@\w+\{(\w+),", entry, flags=re.MULTILINE)[1]: entry for entry in text.strip().split("\n\n")}


def cited(capsys):
    assert exit_code_of(["list", "diagnostics", "--cite"]) == 0
    return capsys.readouterr().out


def test_each_published_method_has_one_entry_with_a_doi(capsys):
    text = cited(capsys)
    entries = dict(re.findall(r"^% (\w+)\n(@(?:.|\n)*?^\})", text, flags=re.MULTILINE))
    assert set(entries) >= METHODS
    assert set(entries) <= set(DIAGNOSTICS.names())
    for entry in entries.values():
        assert re.search(r"^  doi = \{10\.\d{4,}/\S+\},?$", entry, flags=re.MULTILINE)
        assert entry.count("{") == entry.count("}")
    keys = re.findall(r"^@\w+\{(\w+),", text, flags=re.MULTILINE)
    assert len(keys) == len(set(keys)) == len(entries) + 1 + len(other_references())
    assert keys[0] == "embassay"
    assert {"wilson1927", "hall1992", "holm1979", "romano2005", "dolan2005"} <= set(keys)


def test_embassay_is_cited_with_author_year_and_version(capsys):
    ours = cited(capsys).split("\n\n")[0]
    fields = dict(re.findall(r"^  (\w+) = \{+(.+?)\}+,?$", ours, flags=re.MULTILINE))
    assert fields == {
        "author": "The Embassay developers",
        "title": "Embassay: an assay for sentence embeddings",
        "year": str(YEAR),
        "version": __version__,
        "license": "Apache-2.0",
    }
    file = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n  version: {__version__}\n  year: {YEAR}\n" in file


def test_every_other_reference_says_what_it_is_for():
    for key, entry in other_references().items():
        assert re.match(rf"% \S.*\.\n@\w+\{{{key},\n  author = ", entry)
        assert re.search(r"^  year = \{\d{4}\},?$", entry, flags=re.MULTILINE)
        assert entry.count("{") == entry.count("}")


def test_the_citation_file_has_the_same_papers_and_version(capsys):
    text = cited(capsys)
    file = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in file
    in_file = set(re.findall(r"doi: (\S+)", file))
    of_methods = {re.search(r"doi = \{(\S+)\}", DIAGNOSTICS.module(name).CITATION)[1] for name in METHODS}
    assert in_file == of_methods
    assert all(doi in text for doi in in_file)
