"""Documents of one's own and questions about them: folders, tables, passages, units, and every refusal."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.core.errors import SourceError, SpecError
from embassay.core.samples.retrieval import after as text_after
from embassay.core.store.paths import source_path
from embassay.corpora.io.documents import read_documents
from embassay.corpora.io.passages import FEWEST_WORDS, Cutter, collapsed, paragraphs
from embassay.corpora.retrieval.corpus import cut_all
from embassay.corpora.retrieval.documents import load
from embassay.run.resolve import load_corpus
from embassay.stats.lexical.tokens import word_pieces

DOCS = "id,text\na,It rained.\nb,We ran home.\nc d,She sang.\n"
ASKED = "question,document\nDid it rain?,a\nWho sang?,c d\n"


@pytest.fixture
def at(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return str(path)

    return write


@pytest.fixture
def docs(at):
    return at("docs.csv", DOCS)


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def fails(source, error=SourceError, **options):
    with pytest.raises(error) as found:
        load(source, "mine", **options)
    message = str(found.value)
    assert "\n" not in message
    return message


def told(corpus):
    return {d.id: d.passages for d in corpus.documents}, {q.question: q.right for q in corpus.samples}


def test_a_table_and_its_questions(docs, at):
    corpus = load_corpus(f"{docs},questions={at('q.csv', ASKED)}")
    assert told(corpus) == (
        {"a": ("It rained.",), "b": ("We ran home.",), "c d": ("She sang.",)},
        {"Did it rain?": ("a",), "Who sang?": ("c d",)},
    )
    assert (corpus.name, corpus.loader, corpus.shape, corpus.licence) == ("docs", "documents", "retrieval", "unknown")
    assert [q.id for q in corpus.samples] == ["0", "1"]
    assert corpus.notes == (
        "columns: id as id, text as text",
        "columns of the questions: question as question, document as document",
        "passages: paragraph",
        "3 documents, 2 questions",
    )


def test_a_folder_of_texts(at, tmp_path):
    at("f/b/two.md", "---\ntitle: x\n---\n# Two\n\nWe ran.\n")
    at("f/a.txt", "\ufeffIt rained.\r\n\r\nIt poured.")
    at("f/v1.2.TXT", "Version.")
    at("f/.hidden.txt", "x")
    at("f/.git/more.txt", "x")
    at("f/picture.png", b"\x89")
    at("f/list", "x")
    asked = at("f/questions.csv", "question,document\nRun?,b/two\nBoth?,a; v1.2\n")
    corpus = load_corpus(f"{tmp_path / 'f'},questions={asked}")
    assert told(corpus) == (
        {"a": ("It rained. It poured.",), "b/two": ("# x # Two We ran.",), "v1.2": ("Version.",)},
        {"Run?": ("b/two",), "Both?": ("a", "v1.2")},
    )
    assert corpus.name == "f"
    assert corpus.notes[:3] == (
        "files: 3 documents",
        "2 files left out: not a page (list, picture.png)",
        "columns of the questions: question as question, document as document",
    )
    assert "3 documents, 2 questions" in corpus.notes


def test_the_questions_may_be_a_text_file_among_the_documents(at, tmp_path):
    at("f/a.txt", "It rained.")
    asked = at("f/q.txt", "question\tdocument\nRain?\ta\n")
    assert set(told(load_corpus(f"{tmp_path / 'f'},questions={asked}"))[0]) == {"a"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("---\na: 1\n", "a: 1"),
        ("--- x\na\n---\nb", "## --- x a b"),
        ("a\n---\nb\n---\n", "## a b"),
        # Text between two rules.
        ("---\n\nRain: it fell.\n\n---\nWe ran.", "Rain: it fell. We ran."),
        ("---\nIt rained.\nWe ran: fast.\n---\nb", "It rained. We ran: fast. b"),
        ("---\nThis page: what we did.\n---\nb", "This page: what we did. b"),
        ("---\nNote: it rained.\n---\nb", "Note: it rained. b"),
        ("---\n- a\n- b\n---\nc", "a b c"),
        ("---\n# A\n---\nc", "# A c"),
        ("---\n---\nc", "c"),
        ("+++\nno data\n+++\nc", "+++ no data +++ c"),
        ("{\nno data\n}\nc", "{ no data } c"),
    ],
)
def test_what_is_no_front_matter_stays(at, tmp_path, text, words):
    at("f/a.md", text)
    corpus = load(str(tmp_path / "f"), "f", questions=at("q.csv", "question,document\nx,a\n"))
    # A rule below a line is the underline of a heading, and has no words.
    assert " ".join(corpus.documents[0].passages).replace("## ", "") == words.replace("## ", "")


@pytest.mark.parametrize(
    "front_matter",
    [
        "---\ntitle: Wet weather\ntags: [a, b]\n---",
        "---\n# A comment\ntags:\n- a\n\ntitle: 'Wet weather' # and more\n...",
        '---\ntitle: "Wet weather"\ndescription: >\n  It rains.\n---',
        "---\ntitle: >-\n  Wet\n  weather\ndraft: false\n---",
        "---\nTitle: Wet\n  weather\nDate: today\n---",
        '+++\ntitle = "Wet weather"\n[params]\ntitle = "no"\n+++',
        '{\n "title": "Wet weather",\n "tags": ["a"]\n}',
    ],
)
@pytest.mark.parametrize("name", ["a.md", "a.mdx", "a.markdown", "a.html", "a.HTM"])
def test_the_title_in_front_matter_is_the_heading_of_the_page(at, tmp_path, front_matter, name):
    for end in ("\n", "\r\n", "\r"):
        at(f"f/{name}", f"\ufeff{front_matter}\n\nIt rained.\n".replace("\n", end))
        ((document,), _) = read_documents(tmp_path / "f")
        assert document.text.split() == "# Wet weather It rained.".split()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("---\ntitle: Rain\n---\n\n# Rain\n\nIt fell.", "# Rain It fell."),
        ("---\ntitle: rain\n---\nRain\n====\nIt fell.", "# Rain It fell."),
        ("---\ntitle: Snow\n---\n# Rain\n\nIt fell.", "# Snow # Rain It fell."),
        ('---\ntitle: "The \\"rain\\""\n---\nIt fell.', '# The "rain" It fell.'),
        ("---\ntitle: 'Rain''s end'\n---\nIt fell.", "# Rain's end It fell."),
        ("---\ntitle:\nauthor: x\n---\nIt fell.", "It fell."),
        ("---\ntitle: Only a title\n---\n", "# Only a title"),
        ("+++\ntitle = 404\n+++\nIt fell.", "# 404 It fell."),
    ],
)
def test_a_title_is_put_before_the_text_once(at, tmp_path, source, words):
    at("f/a.md", source)
    ((document,), _) = read_documents(tmp_path / "f")
    assert document.text.split() == words.split()


def test_pages_with_equal_texts_and_pages_without_text_are_named(at, tmp_path):
    long = "It rained all day, and the water stood in the cellar of the house. " * 3
    for name, text in {"a.md": f"{long}\n", "b.html": f"<p>{long}", "c.md": "# Moved\n\nSee b.", "d.txt": " "}.items():
        at(f"f/{name}", text)
    notes = load(str(tmp_path / "f"), "f", questions=at("q.csv", "question,document\nx,a\n")).notes
    assert "1 document repeats the text of another" in notes
    assert "1 file left out: no text in it (d.txt)" in notes


def test_folders_that_are_no_pages_are_left_out(at, tmp_path):
    for name in ("a.md", "_build/html/a.html", "x/node_modules/p/README.md", "_templates/b.html", "_posts/c.md"):
        at(f"f/{name}", "It rained.")
    documents, _ = read_documents(tmp_path / "f")
    assert [document.id for document in documents] == ["_posts/c", "a"]
    # One that is named itself is read.
    assert [document.id for document in read_documents(tmp_path / "f" / "_build")[0]] == ["html/a"]


def test_titles_stand_before_their_texts(at):
    docs = at("d.jsonl", lines({"id": 1, "title": " Rain ", "text": "It rained."}, {"id": 2, "title": "", "text": "B"}))
    corpus = load(docs, "mine", questions=at("q.csv", "question,document\nx,1\n"))
    assert told(corpus)[0] == {"1": ("Rain It rained.",), "2": ("B",)}
    assert corpus.notes[0] == "columns: id as id, text as text, title as title"


def test_columns_can_be_named(at):
    docs, asked = at("d.csv", "key,words,id\na,It rained.,9\n"), at("q.csv", "ask,where,question\nRain?,a,x\n")
    corpus = load_corpus(f"{docs},questions={asked},id=key,text=words,question=ask,document=where")
    assert told(corpus) == ({"a": ("It rained.",)}, {"Rain?": ("a",)})


def test_rows_of_one_question_are_merged_by_its_id(docs, at):
    asked = at("q.csv", "id,question,document\n7,Who?,a\n8,What?,b\n7,Who?,b\n7,Who?,a\n7,Who?,\n")
    corpus = load(docs, "mine", questions=asked)
    assert {q.id: q.right for q in corpus.samples} == {"7": ("a", "b"), "8": ("b",)}
    asked = at("q.csv", "question,document\nWho?,a\nWho?,b\n")
    corpus = load(docs, "mine", questions=asked)
    assert [q.right for q in corpus.samples] == [("a",), ("b",)]
    assert corpus.notes[-1] == "1 question repeats another word for word"


def test_the_labels_of_a_question_are_its_right_documents(docs, at):
    asked = at("q.csv", "question,document\nQ0,a\nQ1,a b\nQ2,b\nQ3,c d\nQ4,\nQ5,\nQ6,b a\n")
    corpus = load(docs, "mine", questions=asked)
    assert corpus.samples[1].units == ("document:a", "document:b")
    assert corpus.samples[4].units == ()
    # Q1 and Q6 have the same right documents, in another order.
    assert corpus.units.tolist() == [0, 1, 2, 3, 4, 5, 1]
    labels = [sorted(corpus.unit_labels[corpus.unit_labels[:, 0] == unit, 1].tolist()) for unit in range(6)]
    assert labels == [[0], [0, 1], [1], [2], [3], [4]]
    assert corpus.audit().units == 6


def test_about_these_documents_each_question_stands_alone(docs, at):
    asked = at("q.csv", "question,document\nQ0,a\nQ1,a b\nQ2,b\n")
    alone = load(docs, "mine", questions=asked, about="these-documents")
    assert alone.units.tolist() == [0, 1, 2]
    assert len(alone.unit_labels) == 0
    assert load_corpus(f"mine={docs},questions={asked},about=these-documents").settings["about"] == "these-documents"


def test_documents_of_a_folder_are_called_pages_and_others_documents(docs, at, tmp_path):
    at("f/a.md", "It rained.")
    questions = at("q.csv", "question,document\nx,a\n")
    assert load(str(tmp_path / "f"), "f", questions=questions).document_noun == "page"
    assert load(docs, "mine", questions=questions).document_noun == "document"


def texts(pieces):
    """Return the texts of passages."""
    return tuple(piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("passages", "expected"),
    [
        ("document", ("One two.  Three\nfour.\n \n\nFive six seven.",)),
        ("paragraph", ("One two. Three four. Five six seven.",)),
        ("sentence", ("One two.", "Three four.", "Five six seven.")),
        ("1", ("One", "two.", "Three", "four.", "Five", "six", "seven.")),
        ("2", ("One two.", "two. Three", "Three four.", "four. Five", "Five six", "six seven.")),
        ("4", ("One two. Three four.", "four. Five six seven.")),
        ("7", ("One two. Three four. Five six seven.",)),
        (" 100 ", ("One two. Three four. Five six seven.",)),
        ("6tokens", ("One two. Three", "Three four. Five", "Five six seven.")),
    ],
)
def test_passages_worked_by_hand(passages, expected):
    assert texts(Cutter(passages)("  One two.  Three\nfour.\n \n\nFive six seven. ")) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_are_blank_with_any_line_end(end):
    assert list(map(collapsed, paragraphs(f"a{end}b{end}{end} {end}c"))) == ["a b", "c"]


LONG = "word " * (FEWEST_WORDS - 1) + "word."


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([LONG, LONG], [[0], [1]]),
        (["One.", LONG, LONG], [[0, 1], [2]]),
        ([LONG, "One.", LONG], [[0], [1, 2]]),
        # What is left at the end of a section belongs to the passage before it.
        ([LONG, "One.", "Two."], [[0, 1, 2]]),
        (["One.", "Two."], [[0, 1]]),
        # A section ends at a heading; headings without a text are one with the next section.
        (["# A", "One.", "## B", "Two."], [[0, 1], [2, 3]]),
        (["# A", "## B", LONG, "### C\nTwo.", "# D"], [[0, 1, 2], [3], [4]]),
        ([LONG, "# A", LONG, "- one\n- two"], [[0], [1, 2, 3]]),
        (["#hash", "One."], [[0, 1]]),
    ],
)
def test_short_paragraphs_join_those_of_their_section(parts, expected):
    joined = [" ".join(collapsed(parts[place]) for place in places) for places in expected]
    assert list(texts(Cutter("paragraph")("\n\n".join(parts)))) == joined


def test_writing_without_spaces_has_words_too():
    text = "水" * (2 * FEWEST_WORDS)
    assert texts(Cutter("paragraph")(f"{text}\n\n{text}")) == (text, text)


words = st.lists(st.sampled_from(["it", "rained", "a", "lot", "é"]), min_size=1, max_size=90)


TABLE = "Before it.\n\nDay\tHours\nMonday\t9 to 5\n\tclosed at noon\n\nAfter it, at last."


@pytest.mark.parametrize(
    ("passages", "expected"),
    [
        ("sentence", ("Before it.", "Day Hours Monday 9 to 5 closed at noon", "After it, at last.")),
        ("3", ("Before it.", "Day Hours Monday 9 to 5 closed at noon", "After it, at", "at last.")),
        ("12", ("Before it. Day Hours Monday 9 to 5 closed at noon After", "After it, at last.")),
        ("7tokens", ("Before it.", "Day Hours Monday 9 to 5 closed at noon", "After it, at", "at last.")),
    ],
)
def test_a_table_is_not_divided(passages, expected):
    assert texts(Cutter(passages)(TABLE)) == expected
    in_markdown = TABLE.replace("\t", " | ").replace("Day", "| Day")
    assert any(
        "| Day | Hours Monday | 9 to 5 | closed at noon" in text for text in texts(Cutter(passages)(in_markdown))
    )


def test_windows_of_tokens_against_the_tokenizer():
    text = "Unbelievably, antidisestablishmentarianism was reconsidered " * 20 + "x-" * 40
    pieces = Cutter("18tokens")(text)
    counts = [len(tokens) for tokens in word_pieces()(texts(pieces))]
    # A model adds two. Only a word that is longer than that has more.
    assert all(count <= 16 for count in counts[:-1])
    assert pieces[-1].text == "x-" * 40
    # No window could take the next word as well.
    for piece, following in pairwise(pieces):
        added = text_after(following.text, following.shared).split()[0]
        assert len(word_pieces()([f"{piece.text} {added}"])[0]) > 16
    (document,) = cut_all({"d": text}, Cutter("18tokens"))
    assert document.whole.split() == text.split()


@given(words=words, size=st.integers(1, 100))
def test_windows_hold_all_words_and_overlap_by_a_tenth(words, size):
    found = [passage.split(" ") for passage in texts(Cutter(str(size))(" ".join(words)))]
    overlap = max(1, size // 10) if size > 1 else 0
    assert found[0] + [word for window in found[1:] for word in window[overlap:]] == words
    assert all(len(window) == size for window in found[:-1])
    assert all(a[len(a) - overlap :] == b[:overlap] for a, b in pairwise(found))
    assert len(found) == 1 or len(found[-1]) > overlap


@given(text=st.text(alphabet="a.! \n\r\té\u2028\u200b\x1c", max_size=40).filter(str.strip))
@pytest.mark.parametrize("passages", ["document", "paragraph", "sentence", "1", "3", "3tokens"])
def test_every_text_has_passages_and_none_is_blank(text, passages):
    found = texts(Cutter(passages)(text))
    assert found
    assert all(passage == passage.strip() != "" for passage in found)


@pytest.mark.parametrize("passages", ["0", "-1", "", "words", "1.5", "１", "9" * 5000])
def test_junk_for_passages_is_named(docs, at, passages):
    found = fails(docs, SpecError, questions=at("q.csv", ASKED), passages=passages)
    assert found.startswith(
        "passages must be document, section, paragraph, sentence, a number of words (at least 1) or of tokens "
    )
    assert found.endswith("; several as a list: passages=[document,100]")


def test_questions_are_needed_where_none_can_be_made(docs, at, tmp_path):
    at("f/a.txt", "x")
    for source in (f"{docs},loader=documents", str(tmp_path / "f"), f"{docs},text=text"):
        with pytest.raises(SourceError, match=r"no queries can be made .*; add questions=FILE, a table") as found:
            load_corpus(source)
        assert all(name in str(found.value) for name in ("question, query, text", "document, documents", "Parquet"))


def test_a_named_column_must_be_there_and_be_one_thing(docs, at):
    asked = at("q.csv", ASKED)
    for option, path in [("id", docs), ("text", docs), ("question", asked), ("document", asked)]:
        assert f"{path}, line 1, field 'no': missing; found " in fails(docs, questions=asked, **{option: "no"})
    assert "field 'id': has another use, and cannot be the text as well" in fails(docs, questions=asked, text="id")
    assert "field 'question': has another use, and cannot be the document as well" in fails(
        docs, questions=asked, document="question"
    )


def test_a_broken_folder_is_named(at, tmp_path):
    folder, asked = str(tmp_path / "f"), at("q.csv", "question,document\nx,a\n")
    at("f/x.png", "x")
    assert fails(folder, questions=asked) == (
        f"{folder}: this folder has no text in .txt, .md, .mdx, .markdown, .rst, .html, .htm files; "
        "1 file left out: not a page (x.png)"
    )
    at("f/a.txt", "It rained.")
    assert fails(folder, SpecError, questions=asked, id="x").startswith("id= and text= name columns of a table")
    assert fails(folder, questions=str(tmp_path / "no.csv")) == f"{tmp_path / 'no.csv'}: no such file"
    assert fails(str(tmp_path / "none"), questions=asked) == f"{tmp_path / 'none'}: no such file or folder"


def test_pages_that_cannot_be_read_are_left_out_and_all_named(at, tmp_path):
    for name, content in {
        "a.md": "It rained.",
        "a.txt": "We ran.",
        "b.html": b"<p>caf\xe9",
        "c.txt": b"%PDF-1.4",
        "d.txt": b"a\ncaf\xe9",
        "f.html": "<pre>\n{% block a %}\n</pre>",
    }.items():
        at(f"f/{name}", content)
    documents, notes = read_documents(tmp_path / "f")
    assert [document.id for document in documents] == ["a", "f"]
    assert "1 file left out: another file has the same name (a.txt)" in notes
    assert sum("left out: " in note for note in notes) == 4
    assert sum("left out: line " in note and "not UTF-8 text" in note for note in notes) == 2
    assert any("a binary file" in note and note.endswith("(c.txt)") for note in notes)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.md", b"It rained on caf\xe9s.\n", r"a\.md, line 1: not UTF-8 text"),
        ("a.adoc", b"It rained.\n", r"a\.adoc: convert it to text"),
        ("drafts/a.md", b"It rained.\n", r"a\.md: left out"),
        ("c.md", b"It rained.\n", "if no document answers, leave it empty"),
    ],
)
def test_a_question_about_a_page_that_is_left_out_says_why(at, tmp_path, name, content, reason):
    at("f/b.md", "We ran.\n")
    (tmp_path / "f" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "f" / name).write_bytes(content)
    key = "drafts/a" if "drafts" in name else "a"
    asked = at("q.csv", f"question,document\nDid it rain?,{key}\n")
    with pytest.raises(SourceError, match=f"no document has the id '{key}'; .*{reason}"):
        load(str(tmp_path / "f"), "f", questions=asked, exclude="drafts")


@pytest.mark.parametrize(
    ("exclude", "ids"),
    [("drafts", ["a", "b"]), ("*.txt;drafts/*", ["a"]), ("drafts/*.md", ["a", "b"]), ("", ["a", "b", "drafts/c"])],
)
def test_other_files_and_folders_can_be_left_out(at, tmp_path, exclude, ids):
    for name in ("a.md", "b.txt", "drafts/c.md"):
        at(f"f/{name}", "It rained.")
    asked = at("q.csv", "question,document\nx,a\n")
    corpus = load(str(tmp_path / "f"), "f", questions=asked, exclude=exclude)
    assert [document.id for document in corpus.documents] == ids
    assert "is not a folder" in fails(asked, SpecError, exclude="x")


def test_an_id_without_its_folder_is_guessed(tmp_path):
    (tmp_path / "docs" / "hr").mkdir(parents=True)
    (tmp_path / "docs" / "hr" / "leave.md").write_text("Leave is asked for in writing.\n")
    (tmp_path / "docs" / "a.md").write_text("Tea.\n")
    for wrong in ("leave", "leave.md"):
        (tmp_path / "q.csv").write_text(f"question,document\nHow do I ask for leave?,{wrong}\n")
        with pytest.raises(SourceError, match=r"did you mean 'hr/leave'\?"):
            load(str(tmp_path / "docs"), "mine", questions=str(tmp_path / "q.csv"))


def test_right_documents_may_be_named_by_their_files(tmp_path, at):
    at("docs/guides/keys.md", "# Keys\n\nEvery request needs a key.")
    at("docs/guides/errors.html", "<p>A request that fails returns a status code.</p>")
    asked = at("q.csv", "question,document\na,guides/keys.md\nb,guides/errors.HTML;guides/keys\nc,guides/keys.md\n")
    samples = load_corpus(f"{tmp_path / 'docs'},questions={asked}").samples
    assert [sample.right for sample in samples] == [
        ("guides/keys",),
        ("guides/errors", "guides/keys"),
        ("guides/keys",),
    ]


@pytest.mark.parametrize("passages", ["document", "paragraph", "1", "2", "5", "30", "7tokens", "9+title"])
def test_passages_make_the_whole_document_again(passages):
    text = "One two. Three\n\nfour five. Six\n\nseven eight. Nine ten. " + "One two. " * 30
    (document,) = cut_all({"d": text}, Cutter(passages))
    assert document.whole.split() == text.split()


@pytest.mark.parametrize(
    ("files", "source", "says"),
    [
        (
            ("f/a.pdf", "f/sub/B.PDF", "f/x.png"),
            "f",
            "2 files left out: convert it to text, for example with pandoc (a.pdf, sub/B.PDF)",
        ),
        (("f/a.pdf", "f/b.docx"), "f", "convert it to text, for example with pandoc (a.pdf, b.docx)"),
        ((), "https://example.org/docs", "https://example.org/docs: is a web address; download it first"),
    ],
)
def test_documents_that_are_not_read_are_named_with_the_remedy(tmp_path, at, files, source, says):
    for name in files:
        at(name, b"%PDF-1.4")
    path = str(tmp_path / source) if files else source
    for read in (load_corpus, lambda path: read_documents(source_path(path))):
        with pytest.raises(SourceError) as found:
            read(path)
        assert says in str(found.value)
