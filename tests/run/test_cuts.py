"""Settings as candidates: one corpus cut in several ways, several encoders, all on the same questions."""

import re
from dataclasses import replace

import numpy as np
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import SpecError
from embassay.core.types import Card
from embassay.run.cuts import limited, load_cuts
from embassay.run.execute import vector_bytes

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


def row_of(result, encoder, diagnostic="retrieval", metric="Success@1", subset="all"):
    (row,) = [
        row
        for row in result.rows
        if (row.diagnostic, row.encoder, row.metric, row.subset) == (diagnostic, encoder, metric, subset)
        and not row.condition
    ]
    return row


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


def test_figures_are_those_of_runs_with_one_variant(docs, result):
    for cut in CUTS:
        alone = ea.assay("m=hashing", f"{docs},passages={cut}", "retrieval,k=1", resamples=100, cache=None)
        for encoder in ("m", "bm25", "tfidf"):
            for metric in ("Success@1", "RR", "nDCG@10"):
                expected = row_of(alone, encoder, metric=metric)
                row = row_of(result, f"{encoder},passages={cut}", metric=metric)
                assert (row.value, row.items, row.units) == (expected.value, expected.items, expected.units)


def test_a_limit_keeps_the_same_questions_in_each_variant(docs):
    variants = load_cuts(f"{docs},passages=[document,3]")
    smaller = limited(variants, 7, seed=1)
    kept = [[sample.id for sample in corpus.samples] for corpus in smaller]
    assert kept[0] == kept[1]
    assert len(np.unique(smaller[0].units)) == 7
    assert [len(corpus.documents) for corpus in smaller] == [30, 30]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("passages=[]", "corpus .*: the list of option 'passages' is empty"),
        (
            "passages=[3,document],about=[new-documents,these-documents]",
            "option 'about': must be",
        ),
        ("passages=[3,three]", "passages"),
        ("passages=[3,3]", "two corpora have the label 'docs,passages=3'"),
    ],
)
def test_lists_that_make_no_sense_are_refused(docs, options, message):
    with pytest.raises(SpecError, match=message):
        ea.assay("hashing", f"{docs},{options}", "retrieval,k=1", cache=None)


def test_an_unvaried_corpus_stands_beside_a_varied_one(docs):
    other = docs.replace("docs=", "other=", 1)
    result = ea.assay(
        "m=hashing", [f"{docs},passages=[3,6]", other], "retrieval,k=1", resamples=50, cache=None, baselines=False
    )
    assert [record.name for record in result.encoders] == ["m,passages=3", "m,passages=6", "m"]
    assert set(result.verdict("retrieval", "docs").candidates) == {"m,passages=6", "m,passages=3"}
    assert result.verdict("retrieval", "other").candidates == ("m",)


def test_passages_that_were_found_are_those_of_their_variant(docs):
    result = assay(docs, CUTS, baselines=False)
    frame = result.scores("retrieval")
    for cut in CUTS:
        corpus = ea.load(f"{docs},passages={cut}")
        passages = {document.id: document.passages for document in corpus.documents}
        for row in frame.filter(encoder=f"m,passages={cut}").iter_rows(named=True):
            document, _, number = row["label_found1"].split(" ")[0].partition("#")
            assert row["text_found1"] == passages[document][int(number)]


@pytest.mark.parametrize(
    ("vectors", "dim", "size"), [("", 384, 1536), ("int8", 64, 64), ("binary", 100, 13), ("", None, None)]
)
def test_the_size_of_a_vector(vectors, dim, size):
    assert vector_bytes(Card("st:m", options={"vectors": vectors} if vectors else {}), dim) == size
    assert vector_bytes(Card("sparse:m", is_sparse=True), dim) is None


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A folder of 20 documents of 8 sentences, and a question about one sentence of each, with its answer."""
    rng = np.random.default_rng(1)
    folder = tmp_path_factory.mktemp("answered") / "docs"
    folder.mkdir()
    rows = ["question,document,answer"]
    for number in range(20):
        sentences = [[str(word) for word in rng.choice(WORDS, 6, replace=False)] for _ in range(8)]
        (folder / f"d{number}.txt").write_text(" ".join(f"{' '.join(words).capitalize()}." for words in sentences))
        asked = sentences[rng.integers(8)]
        # The answer is in no other sentence of the document, the words of the question are in many.
        rows.append(f"{' '.join([*asked[:2], *rng.choice(WORDS, 3)])}?,d{number},{' '.join(asked[2:])}")
    questions = folder.parent / "q.csv"
    questions.write_text("\n".join(rows) + "\n")
    return f"docs={folder},questions={questions}"


def spread(dim):
    """Return an encoder that adds up a random vector of each word: no two passages are equally near."""

    def encode(texts):
        of_word = {word: np.random.default_rng(place).normal(size=dim) for place, word in enumerate(WORDS)}
        words = [re.findall(r"\w+", text.lower()) for text in texts]
        # A word counts less, the later it comes.
        return np.array([sum(of_word[word] / (1 + place) for place, word in enumerate(each)) for each in words])

    return encode


def test_fusions_and_rerankers_rank_passages_where_answers_are_read(answered):
    """The same as a search of sentences, each a document of its own."""
    encoders = [ea.encoder(spread(dim), name=name, version="1") for name, dim in (("a", 30), ("b", 8))]
    encoders += ["mix=hybrid:a+b", "again=hybrid:mix+b,depth=30"]
    result = assay(answered, ["sentence", "document"], encoders, ["retrieval", "answers"])
    corpus = ea.load(f"{answered},passages=sentence")
    sentences = [text for document in corpus.documents for text in document.passages]
    samples = []
    for sample in corpus.samples:
        (right,) = [str(row) for row, text in enumerate(sentences) if sample.answers[0] in text]
        samples.append(ea.Question(sample.id, sample.question, (right,)))
    documents = [ea.Document(str(row), (text,)) for row, text in enumerate(sentences)]
    alone = ea.assay(
        encoders, [ea.Corpus("docs", "retrieval", tuple(samples), documents=documents)], resamples=100, cache=None
    )
    for name in ("a", "mix", "again"):
        in_passages = row_of(result, f"{name},passages=sentence", "answers", "Answer@5")
        assert in_passages.value == row_of(alone, name, metric="Success@5").value
    # All words of a document are read in time, if its text is.
    assert row_of(result, "mix,passages=document", "answers", "Answer@800w").value > 0


def use_of(result):
    """Return the diagnostic that makes the choice, and what the other one says."""
    kinds = {one.diagnostic: one for one in result.answers if one.kind in ("use", "highest")}
    (use,) = [name for name, one in kinds.items() if one.kind == "use"]
    (highest,) = [one.sentence for one in kinds.values() if one.kind == "highest"]
    return use, highest


@pytest.mark.parametrize("cuts", [["sentence", "document"], ["sentence"]])
def test_answers_make_the_choice_on_a_corpus(answered, cuts):
    use, highest = use_of(assay(answered, cuts, ["a=hashing", "b=hashing,dim=16"], ["retrieval", "answers"]))
    assert use == "answers"
    assert highest.endswith("For the choice see answers.")


def test_right_documents_make_it_where_most_questions_have_no_answer(answered):
    corpus = ea.load(answered)
    without = [ea.Question(one.id, one.question, one.right, units=one.units) for one in corpus.samples]
    few = max(1, len(without) // 3)
    mixed = replace(corpus, samples=(*corpus.samples[:few], *without[few:]))
    use, highest = use_of(ea.assay(["bow", "hashing"], [mixed], ["retrieval", "answers"], resamples=100, cache=None))
    assert use == "retrieval"
    assert highest.endswith("For the choice see retrieval.")


def test_beside_the_choice_the_other_block_of_a_corpus_says_the_least(answered, tmp_path, capsys):
    corpus = f"{answered},passages=[sentence,document]"
    assert exit_code_of(["run", "-e", "a=hashing", "-c", corpus, "-o", str(tmp_path / "run"), "--quiet"]) == 0
    screen = capsys.readouterr().out
    answers, _, retrieval = screen.partition("Retrieval on docs")
    assert "  Use  " in answers
    lines = retrieval.partition("\n\n")[0].splitlines()[1:]
    assert lines[0].startswith("  Highest")
    assert " ".join(" ".join(lines).split()).endswith("For the choice see answers.")


def test_a_retriever_that_lists_documents_is_left_out_of_answers(answered, tmp_path):
    lists = tmp_path / "lists.trec"
    lists.write_text("".join(f"{sample.id} Q0 d0 1 1.0 x\n" for sample in ea.load(answered).samples))
    with pytest.warns(UserWarning, match="box: has no lists of passages, so it is left out of answers"):
        result = assay(answered, ["sentence"], ["a=hashing", f"box=run:{lists}"], ["retrieval", "answers"])
    of_box = {row.diagnostic for row in result.rows if row.encoder.startswith("box")}
    assert of_box == {"retrieval"}


def test_failures_are_shown_by_the_setting_that_the_screen_shows(answered, tmp_path, capsys):
    run = str(tmp_path / "run")
    corpus = f"{answered},passages=[sentence,document]"
    assert exit_code_of(["run", "-e", "a=hashing", "-c", corpus, "-o", run, "--quiet"]) == 0
    capsys.readouterr()
    assert exit_code_of(["show", run, "--failures", "-e", "passages=document"]) == 0
    assert "a,passages=document is wrong about" in capsys.readouterr().out
    assert exit_code_of(["show", run, "--failures", "-e", "passages=7"]) == 2
