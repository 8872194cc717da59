"""What all loaders of files have in common: each finds its own form, and says what is wrong in one line."""

from __future__ import annotations

import json

import pytest

from embassay.core.errors import InputError, SourceError
from embassay.core.plugins import CORPORA
from embassay.run.resolve import builtin_names, find_loader, load_corpus


def lines(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


DOCUMENT = {"S1": "It rained.", "S2": "We ran.", "S3": "She sang.", "F12": "It rained; we ran.", "F23": "We ran; sang."}
SETS = {"A": "a b", "B": "b c", "overlap": "b", "A_minus_B": "a", "B_minus_A": "c", "union": "a b c"}
HEAD = "Original\tSynonym\tAntonym\tNegation\tRandom\tTypo\tNegation\n"
CONTEXT = {
    "context": "It rained in “May”. We ran.",
    "qas": [
        {"id": "a", "question": "When did it rain?", "answers": [{"text": "May", "answer_start": 14}]},
        {"id": "b", "question": "What did we do?", "answers": [{"text": "ran", "answer_start": 23}]},
    ],
}
EXAMPLES = {
    "composition": lines(
        {"operator": "union", "a": "It rained.", "b": "We ran.", "target": "It rained; we ran.", "ratings": [3, 4]},
        {"operator": "overlap", "a": "It rained a lot.", "b": "It rained here.", "target": "It rained."},
    ),
    "fusions": lines(DOCUMENT, {field: f"More. {text}" for field, text in DOCUMENT.items()}),
    "groups": 'text,label\nIt rained here.,1\n"No, it ""rained"".",1\nRain fell.,1\nWe ran.,2\n',
    "heros": HEAD
    + "He was glad.\tHe was happy.\tHe was sad.\tHe wasn't glad.\tHe was tall.\tHe was gald.\tHe was not glad.\n"
    + "She ran fast.\tShe ran quickly.\tShe ran slow.\tShe didn't.\tShe ran far.\tShe ran fsat.\tShe ran not fast.\n",
    "minimal_pairs": lines(
        {"original": "He was glad.", "edits": {"synonym": "He was happy.", "antonym": "He was sad."}},
        {"original": "“It's on,” she said.", "edits": {"antonym": "“It's off,” she said."}},
    ),
    "msrp": "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    '1\t12\t7\tIt rained.\tRain "fell.\n0\t12\t8\tIt rained.\tWe ran.\n1\t9\t7\tIt was wet.\tRain "fell.\n',
    "pairs": 'sentence1,sentence2,score\nIt rained.,It poured.,4.5\n"Well, no.","He said ""no"".",1\n',
    "retrieval": lines(
        {"document": "r", "passages": ["It rained in “May”."], "unit": "diary"},
        {"document": "s", "passages": ["We ran.", "She sang."], "unit": "letters"},
        {"id": "a", "question": "When did it rain?", "right": ["r"], "unit": "diary", "split": "train"},
        {"id": "b", "question": "What did we do?", "right": ["s"], "unit": "letters", "split": "test", "answer": "ran"},
    ),
    "semantoneg": lines(
        {"idx": 0, "label": 2, "input": "It's on.", "sentences": ["It's off.", "It's not on.", "It's not off."]},
        {"idx": 1, "label": 0, "input": "He's in.", "sentences": ["He's not out.", "He's out.", "He's not in."]},
    ),
    "squad": json.dumps({"data": [{"title": "Rain", "paragraphs": [CONTEXT]}]}, ensure_ascii=False) + "\n",
    "tuples": lines(SETS, {**SETS, "A": {"text": "a b d"}, "overlap": None}),
    "wikisplit": "It rained and we ran .\tIt rained . <::::> We ran .\nHe 's '' in '' .\tHe is . <::::> '' In '' .\n",
}
"""Two entries or more in each loader's form; none of the sentences is anybody's."""
OTHERS = {"beir", "documents", "opinosis", "parts", "trec"}
"""Loaders of folders, and of tables that come with another: tests of their own."""
ALSO_FOLDERS = {"msrp"}
"""Loaders of files that read folders too."""
FORMS = {
    **{(name, name): text for name, text in EXAMPLES.items()},
    (
        "pairs",
        "STS-b",
    ): 'main\tx\t2012\t0001\t3.25\tIt rained.\tIt poured "down.\nmain\tx\t2012\t2\t0\tA b.\tC d.\ts\tt\n',
    ("pairs", "SICK"): "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
    "1\tIt rained.\tIt poured.\tNEUTRAL\t4.5\tTRAIN\n",
    ("pairs", "TSV"): 'score\ttext1\ttext2\n1\tIt rained.\tHe said "no.\n',
    ("pairs", "JSON lines"): lines({"first": "It rained.", "second": "It poured.", "score": 2}),
    ("groups", "TSV"): 'id\tcluster\tsentence\nx\tg\tIt "rained.\ny\tg\tRain fell.\nz\tg\tIt was wet.\n',
    ("groups", "JSON lines"): lines(*({"sentence": f"Rain {n}.", "group_id": 7} for n in range(3))),
    ("groups", "quoted header"): '"sentence","group"\n"a, b","g"\n"c","g"\n"d","g"\n',
    ("squad", "many lines"): json.dumps({"version": "2.0", "data": [{"paragraphs": [CONTEXT]}]}, indent=2),
    ("pairs", "quoted header"): '"sentence1","sentence2","score"\n"a, b","c","1"\n',
}
JSON = ("composition", "fusions", "minimal_pairs", "semantoneg", "tuples")


def module(loader):
    return CORPORA.module(loader)


@pytest.fixture
def write(tmp_path):
    def to_file(content, name="mine.dat"):
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return to_file


def message_of(path, loader=""):
    with pytest.raises(SourceError) as error:
        load_corpus(f"{path},loader={loader}" if loader else str(path))
    message = str(error.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


def test_every_loader_of_files_has_an_example():
    assert set(EXAMPLES) == set(CORPORA.names()) - set(builtin_names()) - OTHERS


@pytest.mark.parametrize(("loader", "form"), FORMS)
def test_each_form_is_found_by_its_own_loader_alone(write, loader, form):
    path = write(FORMS[loader, form])
    corpus = load_corpus(str(path))
    assert corpus.loader == loader
    assert corpus.shape == module(loader).SHAPE
    assert [name for name in EXAMPLES if module(name).recognises(FORMS[loader, form])] == [loader]


@pytest.mark.parametrize(("loader", "form"), FORMS)
def test_a_form_is_found_behind_blank_lines_too(loader, form):
    # The mark of a file is no part of what is read of it.
    for before in ("\n\n", "\r\n"):
        found = [name for name in EXAMPLES if module(name).recognises(before + FORMS[loader, form])]
        assert found == [loader]


@pytest.mark.parametrize("loader", EXAMPLES)
@pytest.mark.parametrize("head", ["", "\n", "\ufeff", "{}", "[]", "null", "7", "a\tb\tc", "a,b,c", "text", "\x00", "{"])
def test_nothing_else_is_recognised(loader, head):
    assert not module(loader).recognises(head)


@pytest.mark.parametrize(("loader", "form"), FORMS)
def test_a_mark_at_the_start_and_dos_line_ends_change_nothing(write, loader, form):
    plain = load_corpus(str(write(FORMS[loader, form])))
    dos = b"\xef\xbb\xbf" + FORMS[loader, form].replace("\n", "\r\n").encode()
    other = load_corpus(str(write(dos, "dos.dat")))
    assert other.loader == loader
    assert other.samples == plain.samples
    assert other.fingerprint == plain.fingerprint


@pytest.mark.parametrize("loader", EXAMPLES)
def test_blank_lines_change_no_text(write, loader):
    plain = load_corpus(str(write(EXAMPLES[loader])))
    blank = load_corpus(str(write(EXAMPLES[loader].replace("\n", "\n\n") + "\n \n", "blank.dat")))
    assert [s.texts() for s in blank.samples] == [s.texts() for s in plain.samples]


@pytest.mark.parametrize("loader", EXAMPLES)
def test_names_and_licences_are_the_users(write, loader):
    path = write(EXAMPLES[loader])
    assert load_corpus(str(path)).name == "mine"
    assert load_corpus(f"yours={path}").name == "yours"
    assert load_corpus(str(path)).licence == "unknown"
    assert load_corpus(f"{path},licence=CC0-1.0").licence == "CC0-1.0"


@pytest.mark.parametrize(("loader", "form"), FORMS)
def test_a_users_file_has_ids_units_and_texts_and_no_claims(write, loader, form):
    corpus = load_corpus(str(write(FORMS[loader, form])))
    ids = [sample.id for sample in corpus.samples]
    assert len(set(ids)) == len(ids)
    assert len(corpus.units) == len(ids)
    assert all(text.strip() for _, text in corpus.texts())
    assert (corpus.builtin, corpus.filtered_with) == (False, ())


@pytest.mark.parametrize("loader", sorted(EXAMPLES.keys() - ALSO_FOLDERS))
def test_a_folder_and_a_missing_file_are_named(tmp_path, loader):
    for path, says in [(tmp_path, "Is a directory"), (tmp_path / "none.dat", "no such file")]:
        with pytest.raises(SourceError) as error:
            module(loader).load(str(path), "mine")
        assert str(error.value).startswith(f"{path}: ")
        assert says.lower() in str(error.value).lower()


def test_a_folder_of_no_known_form_is_told_the_forms_that_there_are(tmp_path):
    found = message_of(tmp_path)
    assert found.startswith(": unrecognised folder; known forms: documents (")
    retrieval = (".txt", "questions=", "beir", "corpus.jsonl", "qrels/", "trec", "loader=")
    groups = ("msrp", "msr_paraphrase_train.txt", "opinosis", "phrase_groups.csv")
    assert all(word in found for word in retrieval + groups)


@pytest.mark.parametrize(
    ("file", "loader"), [("msr_paraphrase_test.txt", "msrp"), ("phrase_groups.csv", "opinosis"), ("a.txt", "documents")]
)
def test_a_folder_of_groups_is_no_folder_of_documents(tmp_path, file, loader):
    for name in (file, "phrases.txt", "README.md"):
        (tmp_path / name).write_text("Text.\n")
    assert find_loader(str(tmp_path), {}) == loader


@pytest.mark.parametrize("loader", ["beir", "opinosis", "trec"])
def test_a_file_is_no_folder(write, loader):
    path = write("text")
    with pytest.raises(SourceError, match="Not a directory"):
        module(loader).load(str(path), "mine")
    with pytest.raises(SourceError, match="no such file"):
        module(loader).load(str(path.parent / "none"), "mine")


def test_options_that_one_loader_has_win_over_one_that_has_them_not(write):
    # "first" and "second" are columns of pairs; questions= is an option of documents alone.
    table = write("id,text,first,second\na,It rained.,x,y\n", "docs.csv")
    questions = write("question,document\nDid it?,a\n", "q.csv")
    assert load_corpus(str(table)).loader == "pairs"
    assert load_corpus(f"{table},questions={questions}").loader == "documents"
    assert load_corpus(f"{table},licence=mine").loader == "pairs"


def test_an_option_of_tables_does_not_make_squad_a_table(write):
    answers = [{"text": "rain", "answer_start": 0}]
    paragraph = {"context": "rain fell", "qas": [{"id": "q", "question": "What fell?", "answers": answers}]}
    path = write(json.dumps({"data": [{"title": "t", "paragraphs": [paragraph]}]}), "squad.json")
    with pytest.raises(InputError, match=r"unknown option .* 'text'. Known: documents, language, passages"):
        load_corpus(f"{path},text=100")


def test_options_that_several_loaders_have_need_one_of_their_own(write):
    # sentence= and group= are of groups alone.
    table = write("a,b,c\nIt rained.,Rain fell.,1\nIt was wet.,It rained.,1\nWe ran.,We sang.,1\n", "table.csv")
    assert load_corpus(f"{table},first=a,second=b").loader == "pairs"
    assert load_corpus(f"{table},first=a,second=b,score=c").loader == "pairs"
    assert load_corpus(f"{table},sentence=a,group=c").loader == "groups"
    known = write("sentence1,sentence2,label\nIt rained.,Rain fell.,1\nIt was wet.,It rained.,1\n", "known.csv")
    assert load_corpus(str(known)).loader == "pairs"
    assert load_corpus(f"{known},first=sentence2,second=sentence1").loader == "pairs"


def test_a_table_of_documents_may_have_labels(write):
    table = write("id,text,label\na,It rained.,x\nb,We ran.,y\n", "docs.csv")
    questions = write("question,document\nDid it?,a\n", "q.csv")
    assert load_corpus(f"{table},questions={questions}").loader == "documents"
    assert load_corpus(f"{table},questions={questions},id=id,text=text").loader == "documents"


@pytest.mark.parametrize("loader", ["composition", "fusions", "minimal_pairs", "tuples"])
def test_ids_are_the_users_and_stand_once(write, loader):
    row = json.loads(EXAMPLES[loader].split("\n")[0])
    other = json.loads(EXAMPLES[loader].split("\n")[1])
    corpus = load_corpus(str(write(lines({**row, "id": "x7"}, {**other, "id": 12}))))
    assert {s.id.split(".")[0] for s in corpus.samples} == {"x7", "12"}
    found = message_of(write(lines({**row, "id": "x7"}, {**other, "id": "x7"})))
    assert found.startswith(", line 2, field 'id'")


@pytest.mark.parametrize("loader", ["composition", "fusions", "minimal_pairs", "tuples"])
@pytest.mark.parametrize("field", ["id", "unit"])
def test_a_name_is_made_of_characters(write, loader, field):
    row = json.loads(EXAMPLES[loader].split("\n")[1])
    found = message_of(write(EXAMPLES[loader] + json.dumps({**row, field: "\ud83d alone"}) + "\n"))
    assert found.startswith(f", line 3, field {field!r}: must be a valid string, unable to parse raw data as a unicode")


@pytest.mark.parametrize("loader", ["composition", "fusions", "minimal_pairs", "tuples"])
def test_a_unit_that_is_given_is_shared(write, loader):
    rows = [{**json.loads(line), "unit": "one"} for line in EXAMPLES[loader].splitlines()]
    corpus = load_corpus(str(write(lines(*rows))))
    assert {s.unit for s in corpus.samples} == {"one"}
    assert set(corpus.units.tolist()) == {0}


@pytest.mark.parametrize("loader", ["composition", "fusions", "tuples"])
def test_the_filters_of_all_lines_are_collected(write, loader):
    first, second = (json.loads(line) for line in EXAMPLES[loader].splitlines())
    path = write(lines({**first, "filtered_with": ["bow", "st:x"]}, {**second, "filtered_with": ["st:y", "bow"]}))
    assert load_corpus(str(path)).filtered_with == ("bow", "st:x", "st:y")
    for value in ("bow", [], [""], [7], {"bow": 1}):
        path = write(lines({**first, "filtered_with": value}, second))
        if value == []:
            assert load_corpus(str(path)).filtered_with == ()
        else:
            assert message_of(path).startswith(", line 1, field 'filtered_with")


def test_a_table_of_no_known_form_is_not_blamed_for_being_no_json(write):
    found = message_of(write("question,answer,mark\na,b,1\n"))
    assert "known forms" in found
    assert "question" in found
    assert "not JSON" not in found


def test_a_builtin_corpus_is_not_read_in_place_of_a_file(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("question,document\nWhen?,a\n")
    with pytest.raises(InputError, match="'handbook' is a built-in corpus and reads no file"):
        load_corpus(f"{path},loader=handbook")
