"""What a program or a notebook does: options as keywords, functions as encoders, results that are kept and compared."""

import numpy as np
import pytest

import embassay as ea
from embassay.core.errors import InputError, OutputError, SpecError, UnknownNameError

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


def test_options_are_keywords(source, corpus):
    folder, questions = source
    assert corpus.fingerprint == ea.load(f"{folder},questions={questions}").fingerprint
    assert corpus.fingerprint == ea.load(folder, questions=questions).fingerprint
    assert corpus.fingerprint == ea.load(f"{folder},questions=nix", questions=questions).fingerprint
    assert ea.load(folder, questions=questions, passages="sentence").settings["passages"] == "sentence"


def test_a_wrong_option_is_one_message(source):
    folder, questions = source
    with pytest.raises(UnknownNameError, match=r"unknown option of corpus .*'pasages'; did you mean 'passages'"):
        ea.load(folder, questions=questions, pasages="sentence")
    with pytest.raises(SpecError, match=r"option 'questions': .*, is 5"):
        ea.load(folder, questions=5)
    with pytest.raises(SpecError, match="corpus: must be a text, is 5"):
        ea.load(5)


# --- functions as encoders -------------------------------------------------------------------------------


def test_functions_are_encoders(corpus, result):
    assert [record.name for record in result.encoders] == ["letters", "bm25"]
    labelled = assay({"mine": letters, "its name": lambda texts: letters(texts), "words": "bm25"}, corpus)
    assert [record.name for record in labelled.encoders] == ["mine", "its name", "words"]
    values = [labelled.figure("Success@5", label).value for label in ("mine", "its name", "words")]
    expected = result.figure("Success@5", "letters").value
    assert values == [expected, expected, result.figure("Success@5", "bm25").value]
    assert np.array_equal(ea.encoder(letters).encode(["ab"]), letters(["ab"]))


def test_an_encoder_has_the_label_that_it_is_given(corpus):
    labelled = assay({"a": ea.encoder("hashing"), "b": ea.encoder(letters, version="1")}, corpus, reference="b")
    assert [record.name for record in labelled.encoders] == ["a", "b"]
    assert labelled.verdict().reference == "b"


@pytest.mark.parametrize(
    ("encoders", "error", "message"),
    [
        ([lambda texts: 1], ea.EncoderError, r"function: the encoder returned int, not an \(n, d\) array"),
        ({"mine": lambda texts: 1 / 0}, ea.EncoderError, "mine: ZeroDivisionError: division by zero"),
        ({"mine": 5}, SpecError, "int is not an encoder; pass a function of a list of texts"),
        ([np.ndarray], SpecError, "ndarray is a class"),
        ([lambda texts: 1, lambda texts: 2], SpecError, "two encoders have the label 'function'"),
    ],
)
def test_what_is_no_encoder_is_said(corpus, encoders, error, message):
    with pytest.raises(error, match=message):
        assay(encoders, corpus)


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


def test_the_only_diagnostic_needs_no_name(result, corpus):
    assert result.verdict() == result.verdict("retrieval")
    assert result.rank().equals(result.rank("retrieval"))
    both = ea.assay([letters], [corpus], ["retrieval", "isotropy"], cache=None, baselines=False)
    with pytest.raises(SpecError, match="several diagnostics ran; name one: retrieval, isotropy"):
        both.verdict()
    with pytest.raises(UnknownNameError, match="unknown diagnostic"):
        ea.Result(0, 1).rank()


def test_a_metric_of_subsets_is_named_with_them(result):
    with pytest.raises(UnknownNameError, match=r"unknown metric 'tau'.*tau\[recommended\]"):
        result.figure("tau", "letters")
    row = result.figure("tau[recommended]", "letters")
    assert row.value is None
    assert "needs about" in row.reason


def test_no_value_is_missing_without_a_reason(result):
    assert all(row.reason for row in result.rows if row.value is None)


def test_a_folder_that_is_not_there_is_said(result, tmp_path):
    for call in (ea.plan, lambda path: ea.check(path, result), lambda path: ea.check(result, path)):
        with pytest.raises(InputError, match="nix: no such file"):
            call(tmp_path / "nix")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": "x"}, "seed must be a whole number of 0 or more, is 'x'"),
        ({"seed": 1.5}, "seed must be a whole number of 0 or more, is 1.5"),
        ({"seed": -1}, "seed must be a whole number of 0 or more, is -1"),
        ({"resamples": "x"}, "resamples must be a whole number of 1 or more, is 'x'"),
        ({"limit": "x"}, "limit: .*valid integer.*, is 'x'"),
        ({"accept": 2}, "accept: .*less than 1, is 2"),
        ({"reference": 5}, "reference: .*valid string, is 5"),
        ({"device": 5}, "device: .*valid string, is 5"),
        ({"baselines": "x"}, "baselines: .*, is 'x'"),
        ({"corpora": 5}, "corpus: must be a text, is 5"),
    ],
)
def test_an_option_of_the_wrong_kind_is_one_message(options, message):
    with pytest.raises(SpecError, match=message):
        ea.assay(**{"encoders": ["bow"], "corpora": ["opposites"], **options})


def test_a_baseline_in_memory_has_no_anchor(result, tmp_path, monkeypatch):
    # A folder of that name is the usual one.
    (tmp_path / "baseline" / "anchor").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert ea.check(result, result).outcome == "pass"


def test_a_result_is_planned_from(result, tmp_path):
    assert ea.plan(result).pairs == ea.plan(result.save(tmp_path / "kept")).pairs
