"""What a program or a notebook does: options as keywords, functions as encoders, results that are kept and compared."""

import numpy as np
import pytest

import embassay as ea
from embassay.core.errors import OutputError, SpecError

WORDS = "kettle stove water ice snow tea cup sun rain wind tree leaf river stone fish bird cat dog house door".split()


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Twenty documents of a word each, with a question about each, as (folder, file of questions)."""
    folder = tmp_path_factory.mktemp("words") / "docs"
    folder.mkdir()
    rows = ["question,document"]
    for word in WORDS:
        (folder / f"{word}.txt").write_text(f"All about the {word}.")
        rows.append(f"What is a {word}?,{word}")
    questions = folder.with_suffix(".csv")
    questions.write_text("\n".join(rows))
    return folder, questions


@pytest.fixture(scope="module")
def corpus(source):
    folder, questions = source
    return ea.load(str(folder), questions=str(questions))


def letters(texts):
    """Count the letters of each text."""
    return np.array([[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], dtype=float)


@pytest.fixture(scope="module")
def result(corpus):
    return assay([letters, "bm25"], corpus)


def assay(encoders, corpus, **options):
    return ea.assay(encoders, [corpus], ["retrieval"], cache=None, baselines=False, **options)


# --- ea.load ---------------------------------------------------------------------------------------------


# --- functions as encoders -------------------------------------------------------------------------------


def test_functions_are_encoders(corpus, result):
    assert [record.name for record in result.encoders] == ["letters", "bm25"]
    labelled = assay({"mine": letters, "its name": lambda texts: letters(texts), "words": "bm25"}, corpus)
    assert [record.name for record in labelled.encoders] == ["mine", "its name", "words"]
    values = [labelled.figure("Success@5", label).value for label in ("mine", "its name", "words")]
    expected = result.figure("Success@5", "letters").value
    assert values == [expected, expected, result.figure("Success@5", "bm25").value]
    assert np.array_equal(ea.encoder(letters).encode(["ab"]), letters(["ab"]))


# --- results ---------------------------------------------------------------------------------------------


def test_a_result_is_kept_as_a_run_is(corpus, result, tmp_path):
    folder = result.save(tmp_path / "kept")
    assert folder == tmp_path / "kept"
    kept = ea.read(folder, [corpus])
    assert kept == result
    assert kept.scores("retrieval").equals(result.scores("retrieval"))
    assert (folder / "report.html").exists()
    assert result.save(str(folder)) == folder
    with pytest.raises(SpecError, match=r"was read from .*kept; copy that folder"):
        kept.save(tmp_path / "copy")
    with pytest.raises(OutputError, match="a run with different settings"):
        assay(["bm25"], corpus).save(folder)
    assert ea.read(assay(["bm25"], corpus).save(folder, overwrite=True)).encoders[0].name == "bm25"
    with pytest.raises(SpecError, match="no item scores"):
        ea.read(folder / "result.json").save(tmp_path / "copy")


def test_results_are_compared_and_checked_as_their_folders_are(corpus, tmp_path):
    def shifted(texts):
        return letters([text[5:] for text in texts])

    old, new = (assay({"hash": "hashing,dim=4", "m": function}, corpus) for function in (letters, shifted))
    places = [(old, new), (old.save(tmp_path / "old"), new.save(tmp_path / "new")), (old, tmp_path / "new")]
    places.append((ea.read(tmp_path / "old"), ea.read(tmp_path / "new")))
    differences = [[change.difference for change in ea.compare(runs).differences] for runs in places]
    assert differences[0]
    assert differences[1:] == differences[:1] * 3
    checks = [ea.check(run, baseline).changes for baseline, run in places]
    assert checks[1:] == checks[:1] * 3
    assert not ea.compare([old, new]).notes
    with pytest.raises(SpecError, match="a list of two runs or more"):
        ea.compare(old, new)


def test_the_reference_that_was_named_is_that_of_the_comparison(corpus):
    named = assay(["bow", "hashing"], corpus, reference="hashing")
    differences = ea.compare([named, assay(["tfidf"], corpus)]).differences
    assert [one.encoder for one in differences] == ["hashing → bow", "hashing → tfidf"]
