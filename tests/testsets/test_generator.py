"""A generator's answers: what is asked and paid once, what is kept, what cannot be used, and what stays secret."""

import json
import logging
import os
import subprocess
import sys
import threading
import time
from itertools import pairwise

import pytest

from connecting import hurry
from embassay.core.errors import EncoderError, InputError, MissingExtraError, OutputError, SpecError
from embassay.models.services.chat import ChatAnswer
from embassay.models.services.spending import guess
from embassay.testsets.generator import chat as chat_module
from embassay.testsets.generator.answers import reply_of
from embassay.testsets.generator.base import Reply
from embassay.testsets.generator.chat import generator
from embassay.testsets.generator.journal import Journal

pytest.importorskip("httpx2", reason="the api extra is not installed")

KEY = "sk-Planted0123456789abcdef"
ASK = "Make one sentence of these two, and say all that both of them say.\nFirst: {}\nSecond: {}"
TEXTS = [
    "The bakery opens at six in the morning.",
    "The bridge was closed for three weeks.",
    "Her brother repairs old bicycles.",
    "The ferry leaves from the northern pier.",
    "All of the windows were painted green.",
    "They sold the house in the spring.",
    "The river froze early that year.",
    "Nobody had told him about the change.",
    "The train was late because of the snow.",
]
PROMPTS = [ASK.format(first, second) for first, second in pairwise(TEXTS)]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    hurry(monkeypatch, 4)


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "set-answers.jsonl"


@pytest.fixture
def make(chat, journal):
    def call(*options, journal=journal):
        return generator(",".join(["m", f"base_url={chat.url}", *options]), journal)

    return call


def rows_of(journal):
    """Return the rows of a journal."""
    return [json.loads(line) for line in journal.read_text().splitlines() if line]


def fused(prompt):
    first, second = (line.partition(": ")[2] for line in prompt.splitlines()[1:])
    return f"{first.rstrip('.')} and {second}"


def right(prompts=PROMPTS):
    return [Reply(fused(prompt)) for prompt in prompts]


def test_replies_come_in_order_and_the_journal_has_each_answer(chat, make, journal):
    seen = []
    writer = make()
    assert writer.replies(PROMPTS, lambda done, total: seen.append((done, total))) == right()
    assert seen == [(done, 8) for done in range(1, 9)]
    rows = rows_of(journal)
    assert {row["text"] for row in rows} == set(map(fused, PROMPTS))
    assert set(chat.asked.values()) == {1}
    assert writer.name == f"m at {chat.host}"
    material = writer.material()
    assert (material.name, material.version) == (writer.name, "m-2026-01-01")
    assert material.purpose == f"texts (m,base_url={chat.url},temperature=0,max_tokens=512)"
    taken = sum(row["tokens"] for row in rows)
    assert writer.notes() == (f"m at {chat.host} answered 8 requests: about {taken:,} tokens.",)


def test_what_is_in_the_journal_is_not_asked_again(chat, make):
    first, seen = make(), []
    first.replies(PROMPTS[:5])
    again = make("price=2")
    assert again.replies(PROMPTS, lambda done, total: seen.append((done, total))) == right()
    assert set(chat.asked.values()) == {1}
    assert seen == [(1, 3), (2, 3), (3, 3)]
    (note,) = again.notes()
    assert "answered 3 requests" in note
    assert note.endswith(" at 2 per million.")
    assert chat.asked.total() == 8


def test_the_same_prompt_is_sent_once(chat, make):
    twice = [PROMPTS[0], PROMPTS[0], PROMPTS[1]]
    assert make("concurrency=1").replies(twice) == right(twice)
    assert chat.asked.total() == 2


def test_another_question_is_another_answer(chat, make):
    for options in (
        (),
        ("temperature=0.5",),
        ("max_tokens=9",),
        ("price=1", "timeout=9", "concurrency=2"),
    ):
        make(*options).replies(PROMPTS[:1])
    assert chat.asked.total() == 3
    generator(f"other,base_url={chat.url}", make().journal.path).replies(PROMPTS[:1])
    assert chat.asked.total() == 4


def test_a_service_that_is_down_keeps_what_was_paid(chat, make, behaviours, journal):
    chat.when(TEXTS[7], behaviours.fails(503, "over capacity"))
    with pytest.raises(EncoderError) as caught:
        make("concurrency=1").replies(PROMPTS)
    said = f"{chat.host} answered 503: it failed; it says: over capacity (tried 4 times); "
    assert str(caught.value) == f"{said}answers are kept in {journal}: repeat the command to continue"
    chat.calm()
    assert make().replies(PROMPTS) == right()
    assert set(chat.answered.values()) == {1}


def test_what_is_under_way_when_another_fails_is_kept(chat, make, behaviours, journal):
    failed = threading.Event()

    def fail(server, handler, prompt):
        for _ in range(500):
            if server.asked.total() == 4:
                break
            time.sleep(0.01)
        behaviours.fails(400, "no")(server, handler, prompt)
        failed.set()

    def outlast(server, handler, prompt):
        failed.wait(10)
        time.sleep(0.3)
        behaviours.says()(server, handler, prompt)

    chat.when(TEXTS[0], fail)
    chat.when("", outlast)
    with pytest.raises(EncoderError, match="answers are kept in"):
        make("concurrency=4").replies(PROMPTS)
    assert len(rows_of(journal)) == 3


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_key_or_a_model_that_is_not_accepted_ends_the_build(chat, make, behaviours, monkeypatch, status):
    monkeypatch.setenv("MY_KEY", KEY)
    chat.when("", behaviours.fails(status, f"no such {KEY}"))
    with pytest.raises(EncoderError) as caught:
        make("key_env=MY_KEY").replies(PROMPTS)
    assert str(caught.value).startswith(f"{chat.host} answered {status}: ")
    assert status == 404 or "MY_KEY" in str(caught.value)
    assert "kept in" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert chat.asked.total() <= 4


def test_a_missing_key_is_said_before_anything_is_sent(monkeypatch, journal):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(SpecError, match="generator 'm': the environment variable OPENAI_API_KEY is not set"):
        generator("m", journal)
    with pytest.raises(SpecError, match="give the name of an environment variable") as caught:
        generator(f"m,key_env={KEY}", journal)
    assert KEY not in str(caught.value)
    assert not journal.exists()


def test_the_key_is_nowhere(chat, make, behaviours, journal, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    writer = generator(f"m,base_url={chat.url}?sig=abcdefgh12345", journal)
    chat.script(behaviours.fails(500, KEY))
    writer.replies(PROMPTS[:3])
    assert {headers["authorization"] for _, headers, _ in chat.seen} == {f"Bearer {KEY}"}
    assert chat.seen[0][0].endswith("?sig=abcdefgh12345")
    chat.when("", behaviours.fails(400, f"{KEY} abcdefgh12345"))
    with pytest.raises(EncoderError) as caught:
        writer.replies(PROMPTS)
    shown = f"{writer!r}{writer.material()}{writer.notes()}{caught.value!r}{caught.value.__context__!r}"
    for secret in (KEY, "abcdefgh12345"):
        assert secret not in shown + journal.read_text()
    assert KEY not in caplog.text


def test_a_budget_is_not_exceeded_and_what_was_paid_is_kept(chat, make, journal):
    rows = [guess(prompt) + 100 for prompt in PROMPTS]
    options = ("max_tokens=100", "price=1000000", "concurrency=2")
    with pytest.raises(EncoderError) as caught:
        make(*options, f"budget={sum(rows) / 3:.0f}").replies(PROMPTS)
    assert str(caught.value).startswith("the next request exceeds the budget of ")
    assert "run the same command with a higher budget" in str(caught.value)
    paid = rows_of(journal)
    assert 0 < len(paid) < 8
    assert sum(row["tokens"] for row in paid) <= sum(rows) / 3
    assert make(*options, "budget=99999").replies(PROMPTS) == right()
    assert set(chat.asked.values()) == {1}


SCRIPT = """
import sys
from pathlib import Path
from embassay.testsets.generator.chat import generator
prompts = Path(sys.argv[3]).read_text().split("\\0")
try:
    generator(sys.argv[1], Path(sys.argv[2])).replies(prompts)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_what_was_paid_before_a_build_ended_is_not_paid_again(
    chat, make, behaviours, journal, tmp_path, start_process, wait_until
):
    (tmp_path / "prompts").write_text("\0".join(PROMPTS))
    for text in TEXTS[5:8]:
        chat.when(f"First: {text}", behaviours.stalls)
    command = [sys.executable, "-c", SCRIPT, f"m,base_url={chat.url},concurrency=3", str(journal), tmp_path / "prompts"]
    process = start_process(command, stderr=subprocess.PIPE, text=True)
    wait_until(
        lambda: journal.exists() and journal.read_bytes().count(b"\n") == 5 and chat.now == 3,
        "five answers are kept and three are awaited",
    )
    process.kill()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (-9, "")
    chat.calm()
    found = make().replies(PROMPTS)
    assert found == right()
    assert [chat.asked[prompt] for prompt in PROMPTS] == [1] * 5 + [2] * 3


def test_a_line_that_was_cut_short_is_left_out(chat, make, journal):
    make("concurrency=1").replies(PROMPTS[:3])
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-20])
    assert make().replies(PROMPTS[:3]) == right(PROMPTS[:3])
    assert set(whole.splitlines()) <= set(journal.read_bytes().splitlines())
    assert make().replies(PROMPTS[:3]) == right(PROMPTS[:3])
    assert chat.asked.total() == 4


def test_lines_that_are_no_answers_are_left_out(chat, make, journal):
    make("concurrency=1").replies(PROMPTS[:2])
    journal.write_bytes(b'My notes.\n{}\n[]\n{"request": 3}\n{"answer": 3}\n' + journal.read_bytes() + b'\n{"request"')
    assert make().replies(PROMPTS) == right()
    assert set(chat.asked.values()) == {1}
    assert make().replies(PROMPTS) == right()
    assert set(chat.asked.values()) == {1}


def test_a_journal_that_cannot_be_written(make, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file.answers.jsonl: cannot be written: "):
        make(journal=tmp_path / "file" / "answers.jsonl").replies(PROMPTS)
    with pytest.raises(OutputError, match="cannot be written"):
        make(journal=tmp_path).replies(PROMPTS)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there")
def test_after_a_full_disk_a_half_line_is_left_out(journal):
    import resource

    book = Journal(journal)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    book.keep("a", ChatAnswer("kept"))
    # Room for nine bytes more.
    resource.setrlimit(resource.RLIMIT_FSIZE, (journal.stat().st_size + 9, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"answers.jsonl: cannot be written: "):
            book.keep("b", ChatAnswer("lost"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    book.keep("c", ChatAnswer("kept too"))
    again = Journal(journal)
    again.read()
    assert again.answers == {"a": ChatAnswer("kept"), "c": ChatAnswer("kept too")}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("m,temprature=1", "unknown option of generator 'm': 'temprature'; did you mean 'temperature'"),
        ("m,temperature=hot", "generator 'm', option 'temperature': must be a valid number, is 'hot'"),
        ("m,temperature=nan", "must be less than or equal to 2, is 'nan'"),
        ("m,budget=1", "option 'budget': also needs price=, the price of a million tokens"),
        ("m,base_url=ftp://x", "generator 'm': the address must start with"),
        ("m,price", "expected option=value after its name"),
        ("temperature=0", "generator: name the model first"),
        ("", "generator: the name is empty"),
    ],
)
def test_wrong_specs(spec, message, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(InputError) as caught:
        generator(spec, None)
    assert message in str(caught.value)


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setattr(chat_module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"the generator needs the extra 'api': pip install 'embassay\[api\]'"):
        generator("m", None)


def test_what_cannot_be_used_is_a_problem_of_its_own_request(chat, make, behaviours):
    told = {
        0: (behaviours.REFUSES, "the generator refused"),
        1: (behaviours.WITHHOLDS, "the generator refused"),
        2: (behaviours.CUT_OFF, "truncated at the token limit"),
        3: (behaviours.NOTHING, "an empty answer"),
        4: (behaviours.fails(400, "maximum context length is 8"), "a prompt that is too long for the generator"),
    }
    for place, (behaviour, _) in told.items():
        chat.when(f"First: {TEXTS[place]}", behaviour)
    found = make().replies(PROMPTS)
    assert [reply.problem for reply in found] == [*(problem for _, problem in told.values()), "", "", ""]
    assert [reply.text for reply in found] == [""] * 5 + [fused(prompt) for prompt in PROMPTS[5:]]
    assert make().replies(PROMPTS) == found
    assert chat.asked.total() == 8


def test_a_prompt_that_is_refused_is_not_sent_again(chat, make, behaviours, journal):
    chat.when(TEXTS[0], behaviours.fails(400, "filtered by the content management policy"))
    chat.when(TEXTS[2], behaviours.fails(413, "Request Entity Too Large"))
    found = make().replies(PROMPTS)
    long = "a prompt that is too long for the generator"
    assert [reply.problem for reply in found] == ["the generator refused", long, long, *[""] * 5]
    assert len(rows_of(journal)) == 8
    assert make().replies(PROMPTS) == found
    assert set(chat.asked.values()) == {1}


LOST = "no answer after all attempts, although the service answered others"


@pytest.mark.parametrize(
    "failure", [lambda b: b.fails(500), lambda b: b.fails(504), lambda b: b.errs(code=502), lambda b: b.cuts]
)
def test_a_prompt_that_the_service_fails_on_is_left_out(chat, make, behaviours, journal, failure):
    chat.when(TEXTS[3], failure(behaviours))
    found = make("concurrency=1").replies(PROMPTS)
    assert [reply.problem for reply in found] == ["", "", LOST, LOST, "", "", "", ""]
    assert len(rows_of(journal)) == 6
    assert make().replies(PROMPTS) == found
    assert {chat.asked[prompt] for prompt in PROMPTS[2:4]} == {8}
    chat.calm()
    assert make().replies(PROMPTS) == right()


def test_a_service_that_fails_on_all_ends_the_build(chat, make, behaviours, journal):
    chat.when("", behaviours.fails(500))
    with pytest.raises(EncoderError) as caught:
        make().replies(PROMPTS[:2])
    assert str(caught.value) == f"{chat.host} answered 500: it failed; it says: out of order (tried 4 times)"
    with pytest.raises(EncoderError, match=f"{chat.host} answered 500: it failed"):
        make().replies(PROMPTS[:1])
    assert not journal.exists()


def test_many_failures_in_a_row_end_the_build(chat, make, behaviours, journal):
    prompts = [ASK.format(f"The shop sells {i} lamps.", TEXTS[0]) for i in range(20)]
    writer = make("concurrency=1")
    assert writer.replies(prompts[:1])[0].text
    chat.when("", behaviours.fails(500))
    with pytest.raises(EncoderError, match="answers are kept in "):
        writer.replies(prompts)
    assert chat.asked.total() == 1 + 8 * 4
    chat.calm()
    assert all(reply.text for reply in writer.replies(prompts))


def judged(text, prompt=PROMPTS[0], **more):
    return reply_of(ChatAnswer(text, **more), prompt).problem


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't do that.",
        "I’m really sorry. The sentences are about crime.",
        "**I cannot** combine them.",
        "As an AI language model, I have no bakery.",
        "Unfortunately, I do not know.",
        '"Sorry, no."',
        "<think>Hm, what is this?</think>\nI am unable to say.",
    ],
)
def test_refusals(text):
    assert judged(text) == "the generator refused"


def test_what_a_text_says_itself_is_no_refusal():
    prompt = ASK.format("I cannot open the door.", "It is locked.")
    assert judged("I cannot open the door because it is locked.", prompt) == ""
    assert judged("I cannot open the door because it is locked.") == "the generator refused"
    assert judged("Iron is an element that is in the ground.") == ""
    assert judged("As a result of the snow, the bakery was closed.") == ""


def test_damage_and_thoughts():
    assert judged("The bakery \x00 is open.") == "damaged characters in the answer"
    assert judged("The bakery is \ufffd open.") == "damaged characters in the answer"
    assert judged("\tThe bakery\r\nis open at six.\n") == ""
    assert judged("<think>what?</think> \n") == "an empty answer"
    assert reply_of(ChatAnswer("<thinking>The shop …\n…</thinking>\n\nIt is open. "), "").text == "It is open."
    assert judged("", finish="length") == "truncated at the token limit"
