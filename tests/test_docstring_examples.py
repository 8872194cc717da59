"""Each public name has an example, and the examples of docstrings print what they show."""

import doctest

import pytest

import embassay as ea

WITHOUT = {"Text", "__version__"}
"""A type and a text, which have no docstring."""
SLOW = {"adapt", "evaluator", "rate", "train"}
"""They train, load torch, or need sheets that people filled in: the documentation and their own tests have examples."""


@pytest.fixture
def names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    return {"ea": ea}


@pytest.mark.parametrize("name", sorted({*ea.__all__} - WITHOUT - SLOW))
def test_the_example_of_a_public_name(names, name):
    (test,) = [
        one
        for one in doctest.DocTestFinder(recurse=False).find(getattr(ea, name), name, globs=names, module=False)
        if one.examples
    ]
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.failures == 0
