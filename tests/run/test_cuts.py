"""Settings as candidates: one corpus cut in several ways, several encoders, all on the same questions."""

import json
import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.columns import read_columns
from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.result import between
from embassay.core.types import Card
from embassay.run.cuts import limited, load_cuts
from embassay.run.execute import execute, vector_bytes
from embassay.run.plan import load_given_corpora, prepare
from embassay.run.request import RunRequest
from embassay.run.runs.folder import RunFolder

PARTS = ("ba", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu")
WORDS = [first + last for first in PARTS for last in ("dor", "fin", "gal", "hup")]
CUTS = ("document", "6", "3")


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    """A folder of 30 documents of 12 words, and 60 questions that share words with their documents."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("variants") / "docs"
    folder.mkdir()
    rows = ["id,question,document"]
    contents = []
    for number in range(30):
        words = [*rng.choice(WORDS, 12, replace=False)]
        contents.append(words)
        (folder / f"d{number}.txt").write_text(" ".join(words))
    for number in range(60):
        words = [*contents[number % 30][:2], *rng.choice(WORDS, 5)]
        rows.append(f"q{number},{' '.join(words)},d{number % 30}")
    questions = folder.parent / "q.csv"
    questions.write_text("\n".join(rows) + "\n")
    return f"docs={folder},questions={questions}"


@pytest.fixture(scope="module")
def result(docs):
    return assay(docs, CUTS)


def assay(docs, cuts, encoders="m=hashing", diagnostics="retrieval,k=1", **options):
    corpus = f"{docs},passages=[{','.join(cuts)}]"
    return ea.assay(encoders, corpus, diagnostics, **{"resamples": 100, "cache": None, **options})


def request(docs, cuts=CUTS, encoders=("m=hashing",), **options):
    corpus = f"{docs},passages=[{','.join(cuts)}]"
    return RunRequest(encoders, [corpus], ["retrieval,k=1"], **{"resamples": 100, "quiet": True, **options})


def row_of(result, encoder, diagnostic="retrieval", metric="Success@1", subset="all"):
    (row,) = [
        row
        for row in result.rows
        if (row.diagnostic, row.encoder, row.metric, row.subset) == (diagnostic, encoder, metric, subset)
        and not row.condition
    ]
    return row


def run(docs, out, *more, encoders=("m=hashing",), cuts=CUTS):
    command = ["run", "-c", f"{docs},passages=[{','.join(cuts)}]", "-d", "retrieval,k=1", "--resamples", "100"]
    for encoder in encoders:
        command += ["-e", encoder]
    return exit_code_of([*command, "-o", str(out), *more])


def test_each_combination_is_a_candidate(docs, result):
    candidates = [record for record in result.encoders if not record.baseline]
    assert [record.name for record in candidates] == [f"m,passages={cut}" for cut in CUTS]
    assert [record.setting for record in candidates] == [f"passages={cut}" for cut in CUTS]
    passages = [ea.load(f"{docs},passages={cut}").audit().passages for cut in CUTS]
    assert [record.vectors for record in candidates] == [{"docs": number} for number in passages]
    assert passages == sorted(set(passages))
    assert [corpus.name for corpus in result.corpora] == ["docs"]
    verdict = result.verdict("retrieval")
    assert set(verdict.candidates) == {record.name for record in candidates}
    assert verdict.reference == "m,passages=document"
    steps = [(pair.a, pair.b, pair.step) for pair in result.differences(verdict) if pair.family == "step"]
    assert sorted(steps) == [(f"m,passages={cut}", "m,passages=document", "passages") for cut in ("3", "6")]


def test_how_many_words_the_first_passages_hold_is_said(docs, result):
    (words,) = [answer for answer in result.answers if answer.question == "Words"]
    length = {}
    for cut in CUTS:
        passages = [text for one in ea.load(f"{docs},passages={cut}").documents for text in one.passages]
        length[cut] = f"{len(' '.join(passages).split()) / len(passages):.0f}"
    assert words.sentence.startswith(
        f"1 passage: about {length['3']} words with m,passages=3, {length['6']} words with m,passages=6 and 12 words "
        "with m,passages=document. Success by document does not see this"
    )
    alone = ea.assay(["m=hashing", "bow"], f"{docs},passages=3", "retrieval,k=1", resamples=100, cache=None)
    assert [answer for answer in alone.answers if answer.question == "Words"] == []


def test_the_lexical_baseline_is_bm25_on_the_first_variant(result):
    lexical = [record.name for record in result.encoders if record.spec in ("bm25", "tfidf")]
    assert len(lexical) == 6
    verdict = result.verdict("retrieval")
    assert verdict.baseline == "bm25,passages=document"
    (main,) = [pair for pair in result.differences(verdict) if pair.family == "main"]
    assert (main.a, main.b) == ("m,passages=document", "bm25,passages=document")
    assert [record.name for record in result.encoders if record.spec.startswith("random")] == ["random"]


def test_figures_are_those_of_runs_with_one_variant(docs, result):
    for cut in CUTS:
        alone = ea.assay("m=hashing", f"{docs},passages={cut}", "retrieval,k=1", resamples=100, cache=None)
        for encoder in ("m", "bm25", "tfidf"):
            for metric in ("Success@1", "RR", "nDCG@10"):
                expected = row_of(alone, encoder, metric=metric)
                row = row_of(result, f"{encoder},passages={cut}", metric=metric)
                assert (row.value, row.items, row.units) == (expected.value, expected.items, expected.units)


def test_differences_are_those_of_the_same_questions(docs, result):
    outcome = execute(prepare(request(docs, baselines=False)), workers=1)
    success = {}
    for (_, corpus), scores in outcome.encoders[0].scores.items():
        success[corpus.rpartition("=")[2]] = dict(zip(scores.item, scores.values["Success@1"], strict=True))
    for cut in CUTS[1:]:
        gap = between(result.differences(result.verdict("retrieval")), f"m,passages={cut}", "m,passages=document")
        naive = [success[cut][item] - success["document"][item] for item in success["document"]]
        assert gap.difference == pytest.approx(np.mean(naive))


def test_two_options_and_two_encoders_vary_at_once(docs):
    result = assay(docs, ("document", "6"), ["a=hashing,dim=[16,64]", "b=bow"], baselines=False)
    assert [record.name for record in result.encoders] == [
        "a,dim=16,passages=document",
        "a,dim=16,passages=6",
        "a,dim=64,passages=document",
        "a,dim=64,passages=6",
        "b,passages=document",
        "b,passages=6",
    ]
    records = {record.name: record for record in result.encoders}
    assert records["a,dim=64,passages=6"].setting == "dim=64,passages=6"
    assert records["a,dim=64,passages=6"].vector_bytes == 256
    pairs = {(pair.family, pair.a, pair.b) for pair in result.differences(result.verdict("retrieval"))}
    models = ["a,dim=16", "a,dim=64", "b"]
    assert pairs == {
        *(("step", f"{model},passages=6", f"{model},passages=document") for model in models),
        *(("models", f"{a},passages=document", f"{b},passages=document") for a, b in combinations(models, 2)),
    }


def test_prompts_with_commas_lengths_and_precisions_vary(tmp_path):
    pytest.importorskip("torch")
    config = tmp_path / "run.toml"
    config.write_text(
        """
[[encoders]]
spec = "all-MiniLM-L6-v2"
name = "m"
query_prompt = ["", "Question, in English: "]
max_length = [64, 128]
dtype = ["float32", "bfloat16"]
"""
    )
    request = RunRequest.of(config, corpora=["handbook"], cache=None, baselines=False, quiet=True)
    entries = prepare(request, will_score=False).entries
    assert len({entry.encoder.fingerprint for entry in entries}) == len(entries) == 8
    assert entries[0].setting == "query_prompt=,max_length=64,dtype=float32"
    assert entries[-1].label == "m,query_prompt=Question, in English: ,max_length=128,dtype=bfloat16"
    assert entries[-1].encoder.card.prompts["query"] == "Question, in English: "
    assert [entry.encoder.card.max_tokens for entry in entries] == [64, 64, 128, 128] * 2


def test_each_text_is_encoded_once(docs, monkeypatch):
    from embassay.models.lexical.hashing import HashingEncoder

    encoded = []
    real = HashingEncoder.encode

    def encode(self, texts, role="text"):
        encoded.extend((role, text) for text in texts)
        return real(self, texts, role)

    monkeypatch.setattr(HashingEncoder, "encode", encode)
    outcome = execute(prepare(request(docs, baselines=False)), workers=1)
    outcome.check()
    texts = {text for corpus in load_cuts(f"{docs},passages=[{','.join(CUTS)}]") for text in corpus.texts()}
    assert len(encoded) == len(set(encoded))
    assert set(encoded) == texts


def test_a_limit_keeps_the_same_questions_in_each_variant(docs):
    variants = load_cuts(f"{docs},passages=[document,3]")
    smaller = limited(variants, 7, seed=1)
    kept = [[sample.id for sample in corpus.samples] for corpus in smaller]
    assert kept[0] == kept[1]
    assert len(np.unique(smaller[0].units)) == 7
    assert [len(corpus.documents) for corpus in smaller] == [30, 30]


def test_each_variant_has_the_file_of_its_source(docs, tmp_path):
    other = tmp_path / "other"
    folder = docs.removeprefix("docs=").partition(",")[0]
    shutil.copytree(folder, other)
    questions = docs.partition("questions=")[2]
    sources = [f"{docs},passages=[document,3]", f"other={other},questions={questions}"]
    plan_request = RunRequest(["m=hashing"], sources, ["retrieval"], quiet=True)
    files = {corpus.key: corpus.file for corpus in load_given_corpora(plan_request)}
    assert files == {"docs,passages=document": folder, "docs,passages=3": folder, "other": str(other)}


def test_a_column_in_brackets_stays_one_beside_a_list(docs, tmp_path):
    questions = tmp_path / "q.csv"
    original = Path(docs.partition("questions=")[2]).read_text()
    questions.write_text(original.replace("id,question,document", "id,[ask],document"))
    folder = docs.partition(",")[0]
    variants = load_cuts(f"{folder},questions={questions},question=[ask],passages=[document,3]")
    assert [corpus.key for corpus in variants] == ["docs,passages=document", "docs,passages=3"]
    assert len(variants[0].samples) == 60


def test_the_reference_is_named_by_its_label_or_that_of_its_encoder(docs):
    for label in ("n,passages=document", "n"):
        result = assay(docs, CUTS, ["m=hashing", "n=bow"], baselines=False, reference=label)
        assert result.verdict("retrieval").reference == "n,passages=document"
    result = assay(docs, CUTS, ["m=hashing", "n=bow"], baselines=False, reference="n,passages=3")
    verdict = result.verdict("retrieval")
    assert verdict.reference == "n,passages=3"
    assert {(one.a, one.b) for one in result.differences(verdict) if one.step == "passages"} >= {
        ("n,passages=document", "n,passages=3")
    }
    with pytest.raises(UnknownNameError, match="did you mean 'm,passages="):
        assay(docs, CUTS, reference="m,passages=4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("passages=[]", "corpus .*: the list of option 'passages' is empty"),
        (
            "passages=[3,document],about=[new-documents,these-documents]",
            "option 'about' cannot be a list; only passages can vary",
        ),
        ("passages=[3,three]", "passages"),
        ("passages=[3,3]", "two corpora have the label 'docs,passages=3'"),
    ],
)
def test_lists_that_make_no_sense_are_refused(docs, options, message):
    with pytest.raises(SpecError, match=message):
        ea.assay("hashing", f"{docs},{options}", "retrieval,k=1", cache=None)


def test_a_list_of_questions_is_refused(docs):
    folder, _, questions = docs.partition(",questions=")
    with pytest.raises(SpecError, match="option 'questions' cannot be a list"):
        ea.assay("hashing", f"{folder},questions=[{questions},{questions}]", "retrieval", cache=None)


def test_variants_with_other_questions_are_refused(tmp_path):
    rng = np.random.default_rng(1)
    for number in range(6):
        sections = [f"# About {' '.join(rng.choice(WORDS, 3))}\n\n{' '.join(rng.choice(WORDS, 40))}." for _ in range(3)]
        (tmp_path / f"d{number}.md").write_text("\n\n".join(sections))
    with pytest.raises(SpecError, match="passages=20 and passages=30 do not have the same questions and documents"):
        ea.assay("hashing", f"docs={tmp_path},passages=[20,30],method=headings", "retrieval,k=1", cache=None)


def test_a_corpus_may_not_have_the_label_of_one_that_varies(docs):
    with pytest.raises(SpecError, match="two corpora have the label 'docs'"):
        ea.assay("hashing", [f"{docs},passages=[3,6]", docs], "retrieval,k=1", cache=None)


def test_an_unvaried_corpus_stands_beside_a_varied_one(docs):
    other = docs.replace("docs=", "other=", 1)
    result = ea.assay(
        "m=hashing", [f"{docs},passages=[3,6]", other], "retrieval,k=1", resamples=50, cache=None, baselines=False
    )
    assert [record.name for record in result.encoders] == ["m,passages=3", "m,passages=6", "m"]
    assert set(result.verdict("retrieval", "docs").candidates) == {"m,passages=6", "m,passages=3"}
    assert result.verdict("retrieval", "other").candidates == ("m",)


def test_isotropy_has_a_row_for_each_variant(docs):
    result = assay(docs, CUTS, diagnostics=["retrieval,k=1", "isotropy"], baselines=False)
    for cut in CUTS:
        alone = ea.assay("m=hashing", f"{docs},passages={cut}", "isotropy", baselines=False, cache=None)
        expected = row_of(alone, "m", "isotropy", "mean_cosine", "documents")
        row = row_of(result, f"m,passages={cut}", "isotropy", "mean_cosine", "documents")
        assert (row.value, row.items) == (expected.value, expected.items)


def test_passages_that_were_found_are_those_of_their_variant(docs):
    result = assay(docs, CUTS, baselines=False)
    frame = result.scores("retrieval")
    for cut in CUTS:
        corpus = ea.load(f"{docs},passages={cut}")
        passages = {document.id: document.passages for document in corpus.documents}
        for row in frame.filter(encoder=f"m,passages={cut}").iter_rows(named=True):
            document, _, number = row["label_found1"].split(" ")[0].partition("#")
            assert row["text_found1"] == passages[document][int(number)]


@pytest.mark.slow
def test_a_run_is_repeated_byte_for_byte_and_read_again(docs, tmp_path, capsys):
    for name in ("one", "two"):
        assert run(docs, tmp_path / name, "--no-baselines") == 0
    assert (tmp_path / "one/result.json").read_bytes() == (tmp_path / "two/result.json").read_bytes()
    assert run(docs, tmp_path / "one", "--no-baselines") == 0
    assert "is already complete" in capsys.readouterr().err
    frame = ea.read(tmp_path / "one").scores("retrieval")
    assert frame.equals(assay(docs, CUTS, baselines=False).scores("retrieval"))
    settings = json.loads((tmp_path / "one/run.json").read_text())["settings"]
    assert [name for name, _ in settings["corpora"]] == [f"docs,passages={cut}" for cut in CUTS]
    assert len({fingerprint for _, fingerprint in settings["corpora"]}) == 3
    assert settings["variants"][1] == ["docs,passages=6", "docs", "passages=6"]
    report = tmp_path / "one/report.html"
    before = report.read_text()
    assert '<h2 id="cost-title">Costs</h2>' in before
    assert ", passage 2 (passages=3)" in before
    report.unlink()
    assert exit_code_of(["report", str(tmp_path / "one")]) == 0
    assert report.read_text() == before


@pytest.mark.slow
def test_an_interrupted_run_goes_on(docs, tmp_path, monkeypatch, capsys):
    assert run(docs, tmp_path / "whole") == 0
    real = RunFolder.save
    saved = []

    def save(self, scores):
        if len(saved) == 2:
            raise KeyboardInterrupt
        saved.append(scores.origin.corpus)
        real(self, scores)

    monkeypatch.setattr(RunFolder, "save", save)
    assert run(docs, tmp_path / "part") != 0
    assert saved == ["docs,passages=document", "docs,passages=6"]
    monkeypatch.setattr(
        RunFolder, "save", lambda self, scores: (saved.append(scores.origin.corpus), real(self, scores))
    )
    assert run(docs, tmp_path / "part") == 0
    # Two of the twelve scores were there.
    assert len(saved) == 12
    assert (tmp_path / "part/result.json").read_bytes() == (tmp_path / "whole/result.json").read_bytes()


def test_runs_with_variants_are_compared(docs, tmp_path, capsys):
    assert run(docs, tmp_path / "one", "--no-baselines", cuts=("document", "6")) == 0
    assert run(docs, tmp_path / "two", "--no-baselines") == 0
    columns = [column for column in read_columns(tmp_path / "two") if column.is_headline]
    assert [(column.key.corpus, column.encoder) for column in columns] == [
        ("docs", f"m,passages={cut}") for cut in CUTS
    ]
    comparison = ea.compare([tmp_path / "one", tmp_path / "two"])
    expected = ea.read(tmp_path / "two")
    for change, cut in zip(comparison.differences, ("document", "6"), strict=True):
        assert change.new == pytest.approx(row_of(expected, f"m,passages={cut}").value)
    assert exit_code_of(["compare", str(tmp_path / "one"), str(tmp_path / "two")]) == 0


def test_a_look_lists_each_variant(docs, tmp_path, capsys):
    assert exit_code_of(["look", "-c", f"{docs},passages=[document,6]"]) == 0
    printed = capsys.readouterr().out
    assert "docs,passages=document: retrieval" in printed
    assert "docs,passages=6: retrieval" in printed
    assert "documents 30, passages 30" in printed
    assert run(docs, tmp_path / "dry", "--dry-run") == 0
    assert not (tmp_path / "dry").exists()
    texts = {text for corpus in load_cuts(f"{docs},passages=[{','.join(CUTS)}]") for text in corpus.texts()}
    assert f"m: {len(texts)} distinct texts to encode" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("vectors", "dim", "size"), [("", 384, 1536), ("int8", 64, 64), ("binary", 100, 13), ("", None, None)]
)
def test_the_size_of_a_vector(vectors, dim, size):
    assert vector_bytes(Card("st:m", options={"vectors": vectors} if vectors else {}), dim) == size
    assert vector_bytes(Card("sparse:m"), dim) is None


def test_cuts_that_change_no_passage_are_said(docs):
    """No document has 500 words: 500 and 600 words a passage leave each in one piece."""
    same = prepare(request(docs, cuts=("500", "600"))).corpora
    assert [any("they cannot differ" in note for note in corpus.notes) for corpus in same] == [True, False]
    different = prepare(request(docs)).corpora
    assert not any("they cannot differ" in note for corpus in different for note in corpus.notes)
