"""The chat form: what is asked, how an answer is read in each shape that services give it, and what it took."""

import json

import pytest

from connecting import connect, one
from embassay.core.errors import EncoderError
from embassay.models.services.chat import Chat, ChatAnswer

pytest.importorskip("httpx2", reason="the api extra is not installed")

KEY = "sk-Planted0123456789abcdefGHIJKL"
PROMPT = "Make one sentence of these two."


@pytest.fixture
def chat(service, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    endpoint = connect(service.url, "MY_KEY", attempts=2)
    return Chat(endpoint, "m", max_tokens=50)


def ask(chat):
    return one(chat.service, chat.ask, PROMPT)


def body(message, finish="stop", **more):
    return {"choices": [{"message": message, "finish_reason": finish}], **more}


def answers(service, found):
    service.script(service.status(200, json.dumps(found).encode()))


def test_what_is_asked_and_what_comes_back(service, chat):
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    answers(service, body({"content": "The shop is open."}, model="m-2026", usage=usage))
    assert ask(chat) == ChatAnswer("The shop is open.", "stop", False, 10, "m-2026")
    path, headers, payload = service.seen[0]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    messages = [{"role": "user", "content": PROMPT}]
    assert payload == {"model": "m", "messages": messages, "temperature": 0.0, "max_tokens": 50}
    assert chat.service.spending.tokens == 10


@pytest.mark.parametrize(
    ("found", "text", "finish", "refused"),
    [
        (body({"content": None}), "", "stop", False),
        (body({"content": 7}), "", "stop", False),
        (body({}), "", "stop", False),
        (body(None), "", "stop", False),
        (body({"content": [{"type": "text", "text": "A "}, {"type": "text", "text": "b."}]}), "A b.", "stop", False),
        (body({"content": [{"type": "image"}, "x", None]}), "", "stop", False),
        (body({"content": None, "refusal": "I will not."}), "", "stop", True),
        (body({"content": "Yes.", "refusal": ""}), "Yes.", "stop", False),
        (body({"content": "Half", "refusal": None}, "length"), "Half", "length", False),
        (body({"content": ""}, "content_filter"), "", "content_filter", True),
        (body({"content": "a"}, None), "a", "", False),
        ({"choices": []}, "", "", False),
        ({"choices": [{}]}, "", "", False),
        (body({"content": "half \ud83d and \ud83d\ude42"}), "half \ufffd and 🙂", "stop", False),
    ],
)  # fmt: skip
def test_shapes_of_answers(service, chat, found, text, finish, refused):
    answers(service, found)
    answer = ask(chat)
    assert (answer.text, answer.finish, answer.refused) == (text, finish, refused)


def test_an_answer_that_has_the_key_is_kept_without_it(service, chat):
    answers(service, body({"content": f"My key is {KEY}."}, f"stop {KEY}", model=f"m\n{KEY}" + "x" * 999))
    answer = ask(chat)
    assert (answer.text, answer.finish) == ("My key is ….", "stop …")
    assert answer.model.startswith("m …xxx")
    assert len(answer.model) < 250


@pytest.mark.parametrize(
    ("status", "said", "finish"),
    [
        (400, "The response was filtered due to Azure OpenAI's content management policy.", "content_filter"),
        (403, "Your input was flagged", "content_filter"),
        (400, "This model's maximum context length is 8192 tokens.", "context_length"),
        (422, "the prompt is too long", "context_length"),
        (413, "Request Entity Too Large", "context_length"),
    ],
)
def test_a_prompt_that_is_refused_is_no_failure_of_the_service(service, chat, status, said, finish):
    service.script(service.status(status, json.dumps({"error": {"message": said}}).encode()))
    answer = ask(chat)
    assert (answer.finish, answer.tokens) == (finish, 0)
    assert chat.service.spending.tokens == 0


def test_a_budget_is_kept_at_the_most_that_an_answer_may_take(service):
    endpoint = connect(service.url, price=1.0, budget=120e-6)
    chat = Chat(endpoint, "m", max_tokens=50)
    usage = {"prompt_tokens": 10, "completion_tokens": 40}
    for _ in range(2):
        answers(service, body({"content": "a"}, usage=usage))
    ask(chat)
    ask(chat)
    with pytest.raises(EncoderError, match=r"5.8e-05 more needed; what is in a cache or journal is kept"):
        ask(chat)
    assert len(service.seen) == 2
