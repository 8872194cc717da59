"""Services: what is asked and how it is read, what it costs, what is never paid twice, and what stays secret."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest

import embassay as ea
from connecting import hurry
from embassay.cli.app import exit_code_of
from embassay.core.errors import EncoderError, EndpointError, MissingExtraError, SpecError
from embassay.core.plugins import ENCODERS
from embassay.core.types import Runtime
from embassay.models.probe import PROBES
from embassay.models.services import api
from embassay.models.services.spending import guess
from embassay.run.resolve import load_encoder

pytest.importorskip("httpx2", reason="the api extra is not installed")

KEY = "sk-Planted0123456789abcdef"
TEXTS = ["The shop is open.", "The shop is not open.", "é 中文 🙂", "a", "b", "c"]


@dataclass(frozen=True)
class Remembering(Runtime):
    """A runtime that keeps what encoders found out."""

    remembered: dict = field(default_factory=dict)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    hurry(monkeypatch, 3)


@pytest.fixture
def make(service):
    """Make an encoder of the service with options."""

    def call(runtime=None, **options):
        spec = ",".join(["api:m", *(f"{k}={v}" for k, v in {"base_url": service.url, **options}.items())])
        return load_encoder(spec, runtime)

    return call


def right(service, texts, dim=None):
    return np.array([service.vector(text, dim) for text in texts], dtype=np.float32)


def test_a_good_answer(service, make):
    encoder = make()
    found = encoder.encode(TEXTS)
    assert found.dtype == np.float32
    assert np.array_equal(found, right(service, TEXTS))
    path, headers, payload = service.seen[0]
    assert path == "/v1/embeddings"
    assert payload == {"model": "m", "input": TEXTS}
    assert "authorization" not in headers
    assert encoder.encode([]).shape == (0, 1)
    assert len(service.seen) == 1


def test_the_key_is_sent(service, make, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    monkeypatch.setenv("OTHER_KEY", "other")
    for options, sent in (({}, f"Bearer {KEY}"), ({"key_env": "OTHER_KEY"}, "Bearer other"), ({"key_env": ""}, None)):
        make(**options).encode(["a"])
        assert service.seen[-1][1].get("authorization") == sent


def test_the_address_is_taken_from_the_environment(service, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", service.url + "/")
    encoder = load_encoder("api:m")
    assert encoder.encode(["a"]).shape == (1, service.dim)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL")
    encoder = load_encoder("api:text-embedding-3-small,dim=256")
    assert encoder.card.spec == "api:text-embedding-3-small,dim=256"
    assert encoder.route()["url"] == "https://api.openai.com/v1"


def without(service, bad, change):
    """Return a behaviour: right, but for what is done to the entry of each text with a word in it."""

    def behave(handler, payload):
        def edit(answer):
            for entry, text in zip(answer["data"], payload["input"], strict=True):
                if bad in text:
                    change(entry)

        service.edit(edit)(handler, payload)

    return behave


@pytest.mark.parametrize(
    "vector",
    [
        None, [], [[1.0]], [10**400], "AAAA", "no entry", [None] * 8, [1e39] * 8,
    ],
)  # fmt: skip
def test_a_text_without_a_vector_is_named_and_other_requests_are_there(service, make, vector):
    def change(entry):
        if vector == "no entry":
            del entry["embedding"]
        else:
            entry["embedding"] = vector

    service.script(*[without(service, "中文", change)] * 3)
    found = []
    with pytest.raises(EndpointError, match=r"no list of finite numbers for the text 'é 中文 🙂'"):
        found += make(batch=2, concurrency=1).batches(TEXTS, "text")
    assert sorted(place for places, _ in found for place in places) == [0, 1]
    for places, rows in found:
        assert np.array_equal(rows, right(service, [TEXTS[place] for place in places]))


@pytest.mark.parametrize(("status", "attempts"), [(400, 1), (500, 3)])
def test_a_service_that_fails_for_every_text_is_not_asked_for_each(service, make, status, attempts):
    service.script(*[service.status(status, b"no")] * 99)
    with pytest.raises(EndpointError, match=f"answered {status}.*it says: no"):
        make().encode([str(number) for number in range(120)])
    # Only a request that cannot be divided is repeated.
    assert [len(texts) for texts in service.texts] == [120, 60, 30, 15, 7, 3] + [1] * attempts


def test_the_dimension_is_asked_for_and_checked(service, make):
    assert make(dim=4).encode(TEXTS).shape == (6, 4)
    assert service.seen[0][2]["dimensions"] == 4
    service.script(lambda handler, payload: service.edit(lambda answer: None)(handler, {**payload, "dimensions": 8}))
    with pytest.raises(EndpointError, match="vectors have 8 dimensions instead of 4"):
        make(dim=4).encode(["a"])


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_said_with_its_variable(service, make, monkeypatch, status):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    service.script(service.status(status, KEY.encode()))
    with pytest.raises(EndpointError, match="OPENAI_API_KEY") as caught:
        make().encode(["a"])
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "said"),
    [(413, ""), (400, "This model's maximum context length is 8192 tokens"), (422, "batch size 6 > 3 is too large")],
)
def test_a_request_that_is_too_large_is_split(service, make, status, said):
    def limited(handler, payload):
        if len(payload["input"]) > 2:
            return handler.answer(status, said.encode(), {})
        return service.edit(lambda answer: None)(handler, payload)

    service.script(*[limited] * 9)
    encoder = make()
    assert np.array_equal(encoder.encode(TEXTS), right(service, TEXTS))
    assert [len(request) for request in service.texts] == [6, 3, 1, 2, 3, 1, 2]
    assert encoder.route()["requests"] == 4


def test_prompts_stand_before_the_texts_of_their_role(service, make):
    encoder = make(query_prompt="query: ", document_prompt="passage: ")
    for role in ("query", "document", "text"):
        encoder.encode(["x", ""], role)
    assert service.texts == [["query: x", "query: "], ["passage: x", "passage: "], ["x", " "]]
    assert encoder.card.prompts == {"query": "query: ", "document": "passage: "}
    assert encoder.card.warnings == (
        "the model has a prompt for queries but none for plain texts; plain texts are encoded without a prompt",
    )


def test_what_the_card_says(service, make):
    card = make(dim=4, similarity="dot", price=0.5, budget=3, batch=7, text_prompt="t: ").card
    assert card.spec == f"api:m,base_url={service.url},dim=4,similarity=dot,text_prompt=t: "
    assert (card.similarity, card.price) == ("dot", 0.5)
    assert card.remote
    assert card.cached
    assert not card.fitted
    assert not service.seen


def test_what_it_will_take_is_told_without_a_request(service, make, tmp_path, capsys):
    encoder = make(price=2.0, query_prompt="12345678")
    (tmp_path / "q.csv").write_text("question,document\nabcd,d\n", encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "d.txt").write_text("abcde", encoding="utf-8")
    corpus = f"{tmp_path / 'docs'},questions={tmp_path / 'q.csv'}"
    spec = f"{encoder.card.spec},price=2"
    assert exit_code_of(["look", "-c", corpus, "-e", f"m={spec}"]) == 0
    # Three for the question with its prompt, and two for the document.
    shown = " ".join(capsys.readouterr().out.split())
    assert "about 5 tokens to send; about 1e-05 at 2 per million tokens" in shown
    assert list(map(guess, ["abcd", "abcde", "", "中文", "\ud800"])) == [1, 2, 1, 2, 1]
    assert encoder.known_fingerprint() is None
    assert not service.seen


# Fingerprints


def test_the_fingerprint_costs_one_request_and_only_when_it_is_asked_for(service, make):
    encoder = make()
    assert encoder.card
    assert not service.seen
    first = encoder.fingerprint
    assert encoder.fingerprint == encoder.known_fingerprint() == first
    assert service.texts == [list(PROBES)]
    assert len(PROBES) == len(set(PROBES)) == 16
    assert make().fingerprint == first


def test_the_fingerprint_depends_on_all_that_the_vectors_depend_on(service, make):
    same = [make(), make(price=3), make(batch=4), make(concurrency=1), make(key_env=""), make(similarity="dot")]
    assert len({encoder.fingerprint for encoder in same}) == 1
    other = [make(dim=4), make(query_prompt="q"), make(text_prompt="q"), make(base_url=f"{service.url}/other")]
    other += [load_encoder(f"api:other,base_url={service.url}")]
    assert len({encoder.fingerprint for encoder in (same[0], *other)}) == 6
    assert make(base_url=f"{service.url}?v=1").fingerprint == same[0].fingerprint


def test_another_model_under_the_same_name_has_another_fingerprint(service, make):
    before = make().fingerprint
    service.salt = "new"
    assert make().fingerprint != before
    runtime = Remembering()
    before = make(runtime).fingerprint
    service.salt = "newer"
    assert make(runtime).fingerprint != before


def test_a_service_that_answers_a_little_differently_each_time_keeps_its_fingerprint(service, make):
    generator = np.random.default_rng(0)

    def noisy(answer):
        for entry in answer["data"]:
            entry["embedding"] = (np.array(entry["embedding"]) + generator.uniform(-4e-4, 4e-4, 8)).tolist()

    runtime = Remembering()
    service.script(*[service.edit(noisy)] * 5)
    encoders = [make(runtime) for _ in range(5)]
    assert len({encoder.fingerprint for encoder in encoders}) == 1
    assert make(runtime).known_fingerprint() == encoders[0].fingerprint
    assert len(service.seen) == 5
    service.script(service.status(401))
    unreachable = make(runtime)
    with pytest.raises(EndpointError):
        _ = unreachable.fingerprint
    assert unreachable.known_fingerprint() == encoders[0].fingerprint
    assert make(runtime, dim=4).known_fingerprint() is None
    # Without a memory a rounding may go the other way.
    service.script(service.edit(noisy))
    assert make().fingerprint != encoders[0].fingerprint


# Options


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"batch": 0}, "option 'batch': must be greater than or equal to 1, is '0'"),
        ({"price": "nan"}, "option 'price': must be less than inf, is 'nan'"),
        ({"price": -1}, "option 'price': must be greater than or equal to 0"),
        ({"price": 1, "budget": "inf"}, "option 'budget': must be less than inf"),
        ({"timeout": 0}, "option 'timeout': must be greater than 0"),
        ({"budget": 1}, "option 'budget': also needs price=, the price of a million tokens"),
        ({"base_url": "host"}, "the address must start with"),
        ({"key_env": "NOT_SET"}, "the environment variable NOT_SET is not set; give the name of"),
        ({"base_url": "https://host"}, "the environment variable OPENAI_API_KEY is not set"),
        ({"dimensions": 3}, "unknown option"),
    ],
)  # fmt: skip
def test_options_that_cannot_be(make, options, problem):
    with pytest.raises((SpecError, ea.InputError), match=problem) as caught:
        make(**options)
    assert "encoder 'api:m'" in str(caught.value)


@pytest.mark.parametrize(
    "value", [KEY, "sk-abc", "hf_AbCdEfGhIjKlMnOpQrStUvWx1234567890", "AIzaSyA1234567890abcdefghij", "two words", "é"]
)
def test_a_key_in_the_place_of_its_variable_is_refused_and_not_repeated(make, value):
    with pytest.raises(SpecError, match="give the name of an environment variable") as caught:
        make(key_env=value)
    assert value not in str(caught.value)


def test_without_the_extra_the_line_is_said(monkeypatch):
    monkeypatch.setattr(api, "REQUIRES", ("no_such_package",))
    with pytest.raises(MissingExtraError, match=r"encoder 'api' needs the extra 'api': pip install 'embassay\[api\]'"):
        ENCODERS.module("api")


# Whole runs


@pytest.fixture
def corpus(choice_file):
    rows = [
        {"idx": i, "label": 2, "input": f"It is {i}.", "sentences": [f"It is no {i}.", f"Not {i}.", f"So {i}."]}
        for i in range(60)
    ]
    return str(choice_file(*rows))


def assay(encoder, corpus, cache):
    return ea.assay([encoder], [corpus], ["negated_antonyms"], baselines=False, cache=cache, resamples=10)


def asked(service):
    return [text for request in service.texts for text in request if text not in PROBES]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_run_that_failed_in_the_middle_asks_only_for_what_is_missing(service, make, corpus, tmp_path, concurrency):
    fine = service.edit(lambda answer: None)
    service.script(*[fine] * 4, service.status(404, b"no"))
    with pytest.raises(EncoderError, match="answered 404"):
        assay(make(batch=20, concurrency=concurrency), corpus, tmp_path)
    done = len(asked(service)) - 20
    assert 0 < done < 240
    service.seen.clear()
    assay(make(batch=20), corpus, tmp_path)
    assert len(asked(service)) == len(set(asked(service))) == 240 - done


def test_no_secret_is_in_anything_that_is_written(service, corpus, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    url = f"{service.url}?sig=Signature99"
    service.script(service.status(500, f"{KEY} Signature99".encode()))
    arguments = ["-e", f"one=api:m,base_url={service.url}", "-e", f"two=api:m,base_url={url}"]
    arguments += [
        "-c",
        corpus,
        "-d",
        "negated_antonyms",
        "-o",
        "RUN",
        "--no-baselines",
        "--resamples",
        "10",
        "--limit",
        "12",
    ]
    assert exit_code_of(["run", *arguments]) == 0
    shown = "".join(capsys.readouterr())
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and "RUN" in path.parts]
    assert len(written) > 4
    for secret in (KEY, "Signature99"):
        assert secret not in shown
        assert not any(secret.encode() in content for content in written)
    record = json.loads((tmp_path / "RUN" / "run.json").read_bytes())
    assert record["encoders"]["one"]["route"]["requests"] > 0
    assert record["encoders"]["two"]["route"]["url"] == service.url
