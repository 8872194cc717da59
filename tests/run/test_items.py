"""Single items of a run: frames, mistakes and Parquet files, from memory and from the run's folder."""

import numpy as np
import polars
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import SourceError, SpecError, UnknownNameError


@pytest.fixture(scope="module")
def result(built_in_run):
    return ea.read(built_in_run)


@pytest.mark.parametrize(("diagnostic", "metric"), [("negated_antonyms", "accuracy"), ("retrieval", "Success@5")])
def test_the_mean_of_correct_is_the_headline(result, diagnostic, metric):
    # Questions without an answer are undecided, and so is one that depends on the order of ties.
    (row,) = [
        row
        for row in result.rows
        if (row.diagnostic, row.encoder, row.metric, row.subset) == (diagnostic, "hashing", metric, "all")
    ]
    frame = result.scores(diagnostic).filter(encoder="hashing")
    assert frame["correct"].mean() == pytest.approx(row.value, abs=0.005)


def test_texts_are_those_of_the_corpus(result):
    corpus = ea.load("opposites")
    frame = result.scores("negated_antonyms").filter(encoder="bow")
    sample = corpus.samples[17]
    (row,) = frame.filter(item=sample.id).to_dicts()
    texts = (row["text_input"], row["text_antonym"], row["text_polarity"], row["text_paraphrase"])
    assert texts == (sample.input, sample.antonym, sample.polarity, sample.paraphrase)
    assert row["text_chosen"] == row[f"text_{row['label_chosen']}"]
    assert row["unit"] == corpus.units[17]


def test_what_was_found_for_a_question_has_its_text(result):
    corpus = ea.load("handbook")
    for row in result.scores("retrieval").filter(encoder="bow").head(20).to_dicts():
        assert corpus.passage(row["label_found1"]).startswith(row["text_found1"].removesuffix("…"))
        assert row["value_found1"] >= row["value_found2"]


def test_failures_are_the_wrong_items_the_clearest_first(result):
    frame = result.failures("bow", "retrieval")
    assert frame["correct"].to_list() == [False] * len(frame)
    assert set(frame["encoder"]) == {"bow"}
    margins = frame["margin"].drop_nulls().to_list()
    assert margins == sorted(margins)
    wrong = result.scores("retrieval").filter((polars.col("encoder") == "bow") & ~polars.col("correct"))
    assert len(frame) == len(wrong)
    with pytest.raises(UnknownNameError, match="encoder"):
        result.failures("bog", "retrieval")


def test_failures_against_another_encoder_are_the_items_on_which_it_is_worse(result):
    grades = {}
    for row in result.scores("retrieval").to_dicts():
        grades[row["encoder"], row["item"]] = {False: 0, None: 0.5, True: 1}[row["correct"]]
    items = list(dict.fromkeys(item for _, item in grades))
    for a, b in (("bow", "hashing"), ("hashing", "bow")):
        frame = result.failures(a, "retrieval", against=b)
        worse = {item for item in items if grades[a, item] < grades[b, item]}
        assert set(frame["item"]) == worse
        assert len(frame) == len(worse) > 0
        assert set(frame["encoder"]) == {a}
        margins = frame["margin"].drop_nulls().to_list()
        assert margins == sorted(margins)
        assert frame.columns == result.scores("retrieval").columns
    with pytest.raises(UnknownNameError, match="'bog'"):
        result.failures("bow", "retrieval", against="bog")


def test_a_corpus_that_has_changed_or_gone_is_named(tmp_path):
    source = tmp_path / "groups.jsonl"
    lines = [f'{{"sentence": "Word{n} and thing{n} are here.", "group": "{n // 3}"}}\n' for n in range(60)]
    source.write_text("".join(lines))
    folder = tmp_path / "run"
    spec = f"mine={source}"
    assert exit_code_of(["run", "-e", "bow", "-c", spec, "--resamples", "50", "--no-cache", "-o", str(folder)]) == 0
    assert len(ea.read(folder).scores("localization").filter(encoder="bow")) == 60
    source.write_text("".join(lines[:30]))
    with pytest.raises(SourceError, match="'mine' has changed since this run, or is missing"):
        ea.read(folder).scores("localization")
    source.unlink()
    with pytest.raises(SourceError, match="cannot be read again; give them as corpora="):
        ea.read(folder).scores("localization")
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_text("".join(lines))
    assert len(ea.read(folder, [f"mine={elsewhere}"]).scores("localization").filter(encoder="bow")) == 60


def test_vectors_are_those_of_the_first_text(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "counts.py").write_text(
        "import numpy as np\ndef encode(texts):\n    return np.array([[len(t), t.count('a'), 1.0] for t in texts])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "run"
    arguments = ["run", "-e", "mine=python:counts:encode", "-e", "bow", "-c", "opposites", "--resamples", "50"]
    assert exit_code_of([*arguments, "-o", str(folder)]) == 0
    assert exit_code_of(["report", str(folder), "--format", "parquet", "--with-vectors"]) == 0
    frame = polars.read_parquet(folder / "parquet" / "items-negated_antonyms.parquet")
    for row in frame.filter(encoder="mine").to_dicts():
        text = row["text_input"]
        assert row["vector"] == [len(text), text.count("a"), 1.0]
    assert frame.filter(encoder="bow")["vector"].null_count() == 280


# --- vectors made elsewhere --------------------------------------------------------------------------------


def test_given_vectors_have_the_results_of_the_encoder_that_made_them(result):
    corpus = ea.load("opposites")
    matrix = ea.encoder("hashing").encode([text for _, text in corpus.texts()])
    from_matrix = ea.assay_vectors(corpus, {"mine": matrix}, resamples=50)
    (mine,) = from_matrix.rank("negated_antonyms").to_dicts()
    usual = result.rank("negated_antonyms").filter(encoder="hashing").to_dicts()[0]
    assert (mine["value"], mine["low"]) == (usual["value"], usual["low"])
    assert mine["encoder"] == "mine"


def test_numbers_that_are_not_finite_are_refused():
    corpus = ea.load("opposites")
    matrix = np.ones((len(corpus.texts()), 3))
    matrix[7, 1] = np.nan
    with pytest.raises(SpecError, match="or a number that is not finite"):
        ea.assay_vectors(corpus, {"mine": matrix})
    with pytest.raises(SpecError, match="give at least one matrix"):
        ea.assay_vectors(corpus, {})
