"""The public names, and what importing them costs."""

import subprocess
import sys

import pytest

import embassay as ea


def test_the_public_names():
    assert sorted(ea.__all__) == [
        "AdaptOptions",
        "Answer",
        "AnswerPlace",
        "AnsweredQuestion",
        "Card",
        "Choice",
        "Comparison",
        "Composition",
        "Corpus",
        "Diagnostic",
        "Document",
        "Draws",
        "EmbassayError",
        "Encoder",
        "EncoderError",
        "Estimate",
        "Example",
        "Finding",
        "Grouped",
        "InputError",
        "ItemScores",
        "MinimalPairs",
        "Origin",
        "Pair",
        "Question",
        "Result",
        "Row",
        "Runtime",
        "Sample",
        "Series",
        "Text",
        "Vectors",
        "Verdict",
        "__version__",
        "adapt",
        "assay",
        "assay_vectors",
        "build",
        "check",
        "compare",
        "encode_corpus",
        "encoder",
        "evaluator",
        "load",
        "plan",
        "rate",
        "read",
        "report",
        "train",
    ]
    # Type checkers read the list as it is written.
    assert set(ea.__all__) == {"__version__", *ea._HOME}


@pytest.mark.parametrize("name", sorted(ea.__all__))
def test_each_name_is_there_and_documented(name):
    thing = getattr(ea, name)
    assert name == "__version__" or thing.__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'asay'"):
        _ = ea.asay


def test_importing_it_loads_nothing_heavy():
    code = (
        "import sys, embassay\n"
        "heavy = {'torch', 'sklearn', 'scipy.stats', 'polars', 'pydantic', 'altair', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_no_public_name_is_also_a_module():
    # Importing embassay.NAME would put the module in the name's place.
    from pathlib import Path

    modules = {path.stem for path in Path(ea.__file__).parent.iterdir()}
    assert not modules & set(ea.__all__) - {"__init__"}


def test_names_stay_what_they_are_after_everything_is_imported():
    import embassay.reports.page
    import embassay.run.command

    assert embassay.reports.page
    assert all(callable(getattr(ea, name)) for name in ("assay", "report", "load", "encoder", "read", "build", "rate"))
