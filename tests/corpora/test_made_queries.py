"""Queries made from sentences: which there are, what is right, and what is left out."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import SourceError, SpecError
from embassay.corpora.io.documents import SourceDocument, read_documents
from embassay.corpora.queries.made import AGREEMENT, SOURCE, made_queries, plain
from embassay.corpora.queries.passages import passages_of, tokens, word_count
from embassay.corpora.retrieval.documents import load
from embassay.run.resolve import load_corpus

pytestmark = pytest.mark.usefixtures("single_paragraphs")
DOCS = Path(__file__).parents[2] / "docs"
WASHER = """\
# Washers

A washer cleans clothes with water, soap and a drum that turns.

## 2.1 Cleaning the [filter](filter.md)

Open the flap at the bottom and let the water run into a flat bowl.

Turn the lid to the left, pull it out, and rinse it under the tap.

### Tools

## Short

Too short.
"""
SPIN_1 = "Wet towels are heavy and may move the whole machine."
SPIN_2 = "The spin cycle slows down until the load lies evenly again."
LOCK_1 = "The door stays locked for two minutes after the end."
LOCK_2 = "Nobody can reach into a drum that is still turning fast."
SPIN, LOCK = f"{SPIN_1} {SPIN_2}", f"{LOCK_1} {LOCK_2}"


@pytest.fixture(scope="module")
def manual_pages():
    return read_documents(DOCS)[0]


def doc(text, name="a", **more):
    return SourceDocument(name, text, **more)


def told(made):
    return {query.text: tuple(passage.id for passage in query.right) for query in made.queries}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("**Bold** and `code`", "Bold and code"),
        ("[Link](x.md) ![image](a.png)", "Link image"),
        ("- item", "item"),
        ("3.1.2 Scope", "Scope"),
        ("1. Scope", "Scope"),
        ("B.2 Scope", "Scope"),
        ("3 ways to go", "3 ways to go"),
        ("2024 results", "2024 results"),
        ("snake_case and _this_", "snake_case and this"),
        ("Setup {#setup}", "Setup"),
        ("needs `__name__` and __this__", "needs __name__ and __this__"),
        ("a * b", "a b"),
    ],
)
def test_queries_have_no_markup_and_no_numbers_of_sections(written, read):
    assert plain(written) == read


# --- sentences ---


def test_a_sentence_is_taken_out_of_its_passage():
    made = made_queries([doc(SPIN), doc(LOCK, "b")])
    assert [query.id for query in made.queries] == ["cloze:a", "cloze:b"]
    for query, sentences in zip(made.queries, ({SPIN_1, SPIN_2}, {LOCK_1, LOCK_2}), strict=True):
        (right,) = query.right
        assert {query.text, right.body} == sentences
        assert right in made.passages


@pytest.mark.slow
def test_the_words_of_a_query_and_of_its_passage_are_those_of_the_document(manual_pages):
    whole = {passage.id: passage.body for passage in passages_of(manual_pages, "paragraph")}
    made = made_queries(manual_pages)
    assert len(made.queries) > 200
    for query in made.queries:
        passage = query.right[0]
        if len(query.right) == 1:
            # Links lose their addresses in the query.
            missing = Counter(tokens(whole[passage.id])) - Counter(tokens(passage.body))
            assert not Counter(tokens(query.text)) - missing


@pytest.mark.slow
def test_no_run_of_six_words_of_a_query_is_left_in_any_document(manual_pages):
    made = made_queries(manual_pages)
    texts = [f" {' '.join(tokens(passage.text))} " for passage in made.passages]
    for query in made.queries[::7]:
        words = tokens(query.text)
        for start in range(max(len(words) - 5, 1)):
            run = f" {' '.join(words[start : start + 6])} "
            assert not any(run in text for text in texts), query


def test_near_duplicates_lose_the_sentence_and_are_right():
    made = made_queries([doc(SPIN), doc(SPIN, "b"), doc(LOCK, "c")])
    assert [tuple(p.id for p in query.right) for query in made.queries] == [("a", "b"), ("c",)]
    assert made.queries[0].right[0].body == made.queries[0].right[1].body
    assert made.rejected == {"a near-duplicate of another passage": 1}


def test_a_sentence_that_another_passage_has_too_is_no_query():
    others = [doc(f"{SPIN_1} Lift them out and dry them on a rack.", "b"), doc(f"Mind this. {SPIN_2}", "c")]
    made = made_queries([doc(SPIN), *others])
    assert "cloze:a" not in {query.id for query in made.queries}
    assert made.rejected["a passage without a sentence of 6 to 40 words that no other text repeats"] >= 1


@pytest.mark.parametrize(
    "text",
    [
        "Short one. Another short one here.",
        "| a | b | 1 | 2 | 3 | 4 |. | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 |.",
        "``` run this command now. And that other command as well, please, at once. ```",
        "# A heading of more than six words here\nThe only sentence of this passage has enough words.",
    ],
)
def test_a_passage_without_a_suitable_sentence_has_no_query(text):
    assert not made_queries([doc(text)], passages="document").queries


def test_only_passages_of_kept_queries_lose_a_sentence(manual_pages):
    whole = {passage.id: passage for passage in passages_of(manual_pages, "paragraph")}
    made = made_queries(manual_pages, count=20)
    # Only some passages are tried, so that there may be fewer queries than were asked for.
    assert 10 <= len(made.queries) <= 20
    changed = {passage.id for passage in made.passages if passage.body != whole[passage.id].body}
    assert changed <= {passage.id for query in made.queries for passage in query.right}
    assert {query.right[0].id for query in made.queries} <= changed
    assert len({query.right[0].unit for query in made.queries}) == len(made.queries)


def test_equal_seeds_give_equal_queries(manual_pages):
    first, again, other = (told(made_queries(manual_pages, count=30, seed=seed)) for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_windows_of_words_are_asked_about_by_whole_sentences():
    made = made_queries([doc(f"{SPIN} {LOCK} " + " ".join(f"{SPIN} {LOCK}".split()[::-1]))], passages="30")
    for query in made.queries:
        assert query.text[-1] == "."


def test_a_passage_of_one_sentence_has_no_cloze():
    with pytest.raises(SpecError, match="a sentence cannot be taken out of a passage of one sentence"):
        made_queries([doc(SPIN)], passages="sentence+title")


LANGUAGES = {
    "German": (
        "Die Trommel dreht sich nach dem Ende noch einige Minuten weiter. Öffnen Sie deshalb die Tür erst dann, wenn "
        "die kleine rote Lampe über dem Griff erloschen ist."
    ),
    "Chinese": "洗衣机结束后滚筒还会继续转动几分钟。因此请等到把手上方的红色小灯熄灭以后再打开机门取出衣物。",
    "Russian": (
        "После окончания программы барабан вращается ещё несколько минут. Открывайте дверцу только тогда, когда "
        "маленькая красная лампа над ручкой погаснет."
    ),
    "Hindi": (
        "कार्यक्रम समाप्त होने के बाद ड्रम कुछ मिनट तक घूमता रहता है। इसलिए दरवाज़ा तभी खोलें जब हैंडल के ऊपर की छोटी लाल बत्ती बुझ जाए।"
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_rule_is_for_english_only(language):
    (query,) = made_queries([doc(LANGUAGES[language])]).queries
    assert query.text in LANGUAGES[language]
    assert query.text not in query.right[0].body


def test_words_without_spaces_between_them_are_counted_by_their_letters():
    assert [word_count(text) for text in ("two words", "洗衣机", "USB 洗衣机", "")] == [2, 2, 3, 0]


@pytest.mark.parametrize("mark", [":", "："])
def test_a_sentence_that_introduces_a_list_is_no_query(mark):
    text = "Sort the load well. Then wait a minute. It is spread evenly in one of two ways"
    assert made_queries([doc(f"{text}.")]).queries
    assert not made_queries([doc(f"{text}{mark}")]).queries


MARKDOWN = st.text(alphabet="#`*_-[]()|. ?!\n\t\u00a0éß洗。กิ" + "abcdefgh" * 3, max_size=400)


@settings(max_examples=150, deadline=None)
@given(st.lists(MARKDOWN.filter(str.strip), min_size=1, max_size=4), st.sampled_from(["document", "paragraph", "9"]))
def test_any_text_gives_queries_with_right_passages_or_none(texts, passages):
    sources = [doc(text, str(number)) for number, text in enumerate(texts)]
    made = made_queries(sources, passages=passages)
    ids = {passage.id for passage in made.passages}
    assert len({query.id for query in made.queries}) == len(made.queries)
    for query in made.queries:
        assert query.text.strip()
        assert query.right
        assert {passage.id for passage in query.right} <= ids


# --- the corpus ---


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "docs"
    place.mkdir()
    for number, text in enumerate((SPIN, LOCK, WASHER)):
        (place / f"{number}.md").write_text(text, encoding="utf-8")
    return place


def test_a_folder_without_questions_has_made_queries_and_says_so(folder):
    corpus = load_corpus(f"mine={folder}")
    assert corpus.source == SOURCE
    assert (corpus.name, corpus.loader, corpus.shape) == ("mine", "documents", "retrieval")
    assert corpus.notes[0] == (
        "no questions given: 2 queries were made from sentences of the documents (inverse cloze); real questions "
        "(questions=FILE) would add what people ask and the words that they use"
    )
    assert all(sample.id.startswith("cloze:") for sample in corpus.samples)
    assert [sample.unit for sample in corpus.samples] == ["document:0", "document:1"]
    corpus.check()


def test_about_these_documents_each_query_stands_alone(folder):
    assert load(str(folder), "x", about="these-documents").samples[0].units == ()


def test_a_table_without_questions_has_made_queries_if_its_loader_is_named(tmp_path):
    table = tmp_path / "docs.csv"
    table.write_text(f'id,title,text\n1,Uneven loads,"{SPIN}"\n2,Locked doors,"{LOCK}"\n', encoding="utf-8")
    corpus = load_corpus(f"{table},loader=documents")
    assert [sample.right for sample in corpus.samples] == [("1",), ("2",)]
    assert all(sample.question in (SPIN_1, SPIN_2, LOCK_1, LOCK_2) for sample in corpus.samples)


def test_results_and_a_look_say_how_the_queries_were_made(folder, capsys):
    result = ea.assay(["bow"], [f"mine={folder}"], ["retrieval"], baselines=False, cache=None)
    assert [corpus.source for corpus in result.corpora] == [SOURCE]
    assert exit_code_of(["look", "-c", f"mine={folder}"]) == 0
    shown = capsys.readouterr().out
    assert "no questions given: 2 queries were made from sentences" in shown
    assert "sample cloze:0:" in shown
    assert any(sentence in shown for sentence in (SPIN_1, SPIN_2))


def test_documents_that_give_no_query_are_refused_with_what_to_add(tmp_path):
    (tmp_path / "a.txt").write_text("Too short.", encoding="utf-8")
    with pytest.raises(SourceError, match="no queries can be made from the documents") as refused:
        load_corpus(str(tmp_path))
    assert "1 × a passage of fewer than 8 words" in str(refused.value)
    assert "add questions=FILE, a table" in str(refused.value)


def test_columns_of_questions_need_questions(folder):
    with pytest.raises(SpecError, match="add questions=FILE"):
        load(str(folder), "x", document="d")


# --- what is said of their worth ---


def test_the_agreement_on_data_cards_is_that_of_the_documentation():
    printed = list[str]()
    for line in (DOCS / "generating.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0] == "cloze":
            _, data_set, success, gain = cells
            printed.append(f"{data_set} {success} and {gain}")
    assert f": {', '.join(printed)}; they tell" in AGREEMENT


def test_the_measured_sample_lies_in_the_range_of_the_three():
    page = (DOCS / "generating.md").read_text(encoding="utf-8")
    block = page.partition("<!-- figures: generating-made -->")[2].partition("<!-- end -->")[0]
    for line in block.strip().splitlines()[2:]:
        _, documents, queries, success, gain, *_ = (cell.strip() for cell in line.split("|"))
        if queries.startswith("cloze:"):
            name = documents.partition(",")[0]
            ranges = re.search(rf"{name} ([.\d]+) to ([.\d]+) and ([.\d]+) to ([.\d]+)", AGREEMENT).groups()
            assert ranges[0] <= success <= ranges[1]
            assert ranges[2] <= gain <= ranges[3]
