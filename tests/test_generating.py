"""``embassay build composition|retrieval``: from documents to a corpus, by a generator on loopback and by rules."""

import json

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.corpora.queries.made import AGREEMENT, SOURCE
from embassay.run.resolve import load_corpus

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


def test_a_key_that_is_refused_ends_it_at_once(folder, tmp_path, chat, behaviours, capsys, monkeypatch):
    needs_extras()
    monkeypatch.setenv("MY_KEY", "sk-planted-and-secret")
    chat.when("", behaviours.fails(401))
    given = f"m,base_url={chat.url},key_env=MY_KEY,concurrency=1"
    assert run("composition", "--from", folder, "-o", tmp_path / "set.jsonl", "--generator", given) == 2
    said = capsys.readouterr().err
    assert "was not accepted (key_env=MY_KEY)" in said
    assert "sk-planted" not in said
    assert sum(chat.asked.values()) == 1
    assert not (tmp_path / "set.jsonl").exists()


def test_what_is_built_from_is_never_replaced(tmp_path, capsys):
    table = tmp_path / "mine.jsonl"
    table.write_text("".join(f"{json.dumps({'text': text})}\n" for text in DOCUMENTS.values()), encoding="utf-8")
    before = table.read_bytes()
    assert run("composition", "--from", table, "-o", table, "--overwrite") == 2
    assert "is the source of the build" in capsys.readouterr().err
    assert table.read_bytes() == before


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


def test_without_a_generator_queries_are_made_from_the_documents(guide, tmp_path, capsys):
    out = tmp_path / "set.jsonl"
    assert run("retrieval", "--from", guide, "-o", out, "--method", "cloze", "--unanswerable", "0") == 0
    said = capsys.readouterr().err
    assert f"{SOURCE}: no person asked them" in said
    corpus = load_corpus(str(out))
    assert corpus.source == SOURCE
    assert corpus.samples
    assert all(sample.id.startswith("cloze:") for sample in corpus.samples)
    card = (tmp_path / "set-card.md").read_text(encoding="utf-8")
    assert f"- {SOURCE}: no person asked them" in card
    assert f"- {AGREEMENT}" in card
    assert "method=cloze" in card
    built = ea.build("retrieval", guide, method="cloze", unanswerable=0)
    assert built.corpus("mine").source == SOURCE
    assert {sample.question for sample in built.samples} == {sample.question for sample in corpus.samples}
    assert not built.answers
    rows = ea.assay(["bow"], [corpus], ["retrieval,k=1"], baselines=False, cache=None).rows
    assert any(row.value is not None for row in rows)


def test_unanswerable_queries_have_no_passage_left(guide):
    built = ea.build("retrieval", guide, method="cloze", unanswerable=0.3)
    (without,) = {sample.unit for sample in built.samples if not sample.right}
    assert not any(document.id.startswith(without) for document in built.documents)
