"""Services of embeddings and of search that answer in other forms than the usual one."""

import base64
import json
import struct
import time
from email.utils import formatdate
from itertools import count
from pathlib import Path

import embassay as ea
from cases.case import CORPUS, RUN, TEXTS, Case, each, lines, write
from connecting import sleeper
from embassay.models.services.service import Service
from search_server import SearchServer

REQUESTS = 100
"""More than any case sends."""
LONGEST_PAUSE = 61.0
"""Seconds: a minute, and up to a second that differs between clients."""
WORDS = sorted(set(" ".join([*TEXTS, *TEXTS.values()]).lower().split()))
ALL_RIGHT = r"\be 100\.0%"


def counts(text, dim=None):
    """Return how often each word occurs."""
    words = text.lower().split()
    return [float(words.count(word)) for word in WORDS]


def changed(change):
    """Return a service that changes each embedding; ``change`` also has the text."""

    def answer(asked, good, number):
        for row, text in zip(good["data"], asked["input"], strict=True):
            row["embedding"] = change(row["embedding"], text)
        return good

    return answer


def gemini(asked, good, number):
    """Leave out the index 0, as protobuf does."""
    del good["data"][0]["index"]
    return good


def without_index(asked, good, number):
    for row in good["data"]:
        del row["index"]
    return good


def shuffled(asked, good, number):
    good["data"].reverse()
    return good


def voyage(asked, good, number):
    """Know no encoding but base64."""
    encoding = asked.get("encoding_format", "base64")
    if encoding != "base64":
        return 400, {"detail": f"Value '{encoding}' supplied for argument 'encoding_format' is not valid"}
    if "encoding_format" not in asked:
        return good
    return changed(lambda row, text: base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode())(asked, good, number)


def extra422(asked, good, number):
    """Refuse what Vertex and Bedrock do not know, as LiteLLM does."""
    if "encoding_format" in asked:
        return 422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "encoding_format"], "input": "float"}]}
    return good


def ollama(asked, good, number):
    return {"model": "m", "embeddings": [row["embedding"] for row in good["data"]]}


def narrower(asked, good, number):
    """Answer the second request, and those after it, with fewer numbers."""
    return good if number == 1 else changed(lambda row, text: row[:12])(asked, good, number)


def refusing(code, message, refused):
    """Return a service that refuses requests with such texts."""
    return lambda asked, good, number: (code, {"error": {"message": message}}) if refused(asked["input"]) else good


def busy(after):
    """Return a service that refuses the first of three requests, and says when to ask again."""
    return lambda asked, good, number: (429, {}, {"Retry-After": after()}) if number % 3 == 1 else good


def with_zebra(texts):
    return any("zebra" in text for text in texts)


LONG = [{"id": f"d{n}", "text": " ".join([text] * (1 if n else 7))} for n, text in enumerate(TEXTS.values())]
"""The first text has more than 200 characters."""

EMBEDDINGS = {
    "api-batch10ali": (refusing(400, "batch size is larger than 10.", lambda texts: len(texts) > 10), ALL_RIGHT, 0),
    "api-batch8": (refusing(422, "`inputs` must have less than 8 texts", lambda texts: len(texts) > 8), ALL_RIGHT, 0),
    "api-dimchange": (narrower, f"the vectors have 12 dimensions instead of {len(WORDS)}", 3),
    "api-extra422": (extra422, ALL_RIGHT, 0),
    "api-floatusage": (lambda asked, good, number: good | {"usage": {"total_tokens": 7.0}}, ALL_RIGHT, 0),
    "api-gemini": (gemini, ALL_RIGHT, 0),
    "api-nested": (changed(lambda row, text: [row]), f"no list of finite numbers|{ALL_RIGHT}", 3),
    "api-noindex": (without_index, ALL_RIGHT, 0),
    "api-nulls": (changed(lambda row, text: [None] * len(row)), r"failed: e: .*no list of finite numbers", 3),
    # The message names the keys of the answer.
    "api-ollama": (ollama, r"'?model'?, '?embeddings|'embeddings'", 3),
    # One text of 24 is enough; the message says which, after the pauses of one request.
    "api-onebad500": (refusing(500, "unsupported value: NaN", with_zebra), "zebra crossing", 3),
    "api-onenan": (
        changed(lambda row, text: [float("nan")] * len(row) if "zebra" in text else row),
        "zebra crossing",
        3,
    ),
    "api-plain": (lambda asked, good, number: good, ALL_RIGHT, 0),
    "api-retrydate": (busy(lambda: formatdate(time.time() + 3, usegmt=True)), ALL_RIGHT, 0),
    "api-retryhuge": (busy(lambda: "86400"), ALL_RIGHT, 0),
    "api-retryneg": (busy(lambda: "-1"), ALL_RIGHT, 0),
    "api-shuffled": (shuffled, ALL_RIGHT, 0),
    "api-toolong": (
        refusing(400, "the input length exceeds the context length", lambda texts: max(map(len, texts)) > 200),
        "The kettle boils",
        3,
    ),
    "api-toplist": (lambda asked, good, number: good["data"], "no list of objects", 3),
    "api-voyage": (voyage, ALL_RIGHT, 0),
    "api-voyageusage": (lambda asked, good, number: good | {"usage": {"total_tokens": 7}}, ALL_RIGHT, 0),
}
"""What a service answers, given the request, the usual answer and the number of the request from 1 (the content, or its
status, the content and headers); what the screen shows; and the exit code."""


@each(EMBEDDINGS)
def test_service_of_embeddings(case, service, monkeypatch, capsys):
    answer, shows, code = case
    numbers = count(1)

    def behave(handler, asked):
        status, content, headers = 200, answer(asked, service.good(asked), next(numbers)), {}
        if isinstance(content, tuple):
            status, content, headers = (*content, headers)[:3]
        handler.answer(status, json.dumps(content).encode(), headers)

    service.vector = counts
    service.script(*[behave] * REQUESTS)
    pauses = []
    monkeypatch.setattr(Service, "sleep", staticmethod(sleeper(pauses.append)))
    Case(
        shows, CORPUS | {"docs.jsonl": lines(LONG)}, f"{RUN} -e e=api:some,base_url={service.url},key_env=", code=code
    ).check(capsys)
    assert max(pauses, default=0) <= LONGEST_PAUSE


HITS = "ids=hits.*.id"
OF_ELASTIC = "ids=hits.hits.*._id,scores=hits.hits.*._score"
OF_WEAVIATE = "ids=data.Get.Doc.*.id,scores=data.Get.Doc.*._additional.score"
DISTANCES = f"{ALL_RIGHT}|distance|(leave out|without) scores="


def weaviate(hits, scored):
    """Return an answer of GraphQL; ``scored`` makes a score what it stands for."""
    return {"data": {"Get": {"Doc": [{"id": name, "_additional": {"score": scored(score)}} for name, score in hits]}}}


def nohitskey(hits):
    """Leave out the list of hits where there are none."""
    if hits[0][0] == "d0":
        return {"hits": {"total": 0}}
    return {"hits": {"hits": [{"_id": name} for name, _ in hits]}}


SEARCH = {
    # Distances: the least is the nearest. The lists must not be turned round.
    "svc-chroma": (
        "ids=ids.0,scores=distances.0",
        lambda hits: {"ids": [[name for name, _ in hits]], "distances": [[-score for _, score in hits]]},
        DISTANCES,
        3,
    ),
    "svc-chunkids": (HITS, lambda hits: {"hits": [{"id": f"{name}#0"} for name, _ in hits]}, r"\bd\d+#0", 3),
    "svc-elastic": (
        OF_ELASTIC,
        lambda hits: {"hits": {"hits": [{"_id": name, "_score": score} for name, score in hits]}},
        ALL_RIGHT,
        0,
    ),
    # With a sort, Elasticsearch answers no scores.
    "svc-elasticnull": (
        OF_ELASTIC,
        lambda hits: {"hits": {"hits": [{"_id": name, "_score": None} for name, _ in hits]}},
        f"{ALL_RIGHT}|(leave out|without) scores=",
        3,
    ),
    "svc-meili": (
        f"{HITS},scores=hits.*._rankingScore",
        lambda hits: {"hits": [{"id": name, "_rankingScore": score / 10} for name, score in hits]},
        ALL_RIGHT,
        0,
    ),
    "svc-nohitskey": ("ids=hits.hits.*._id", nohitskey, r"\be 91\.7%|question '0'|kettle boils", 3),
    "svc-qdrant": (
        "ids=result.points.*.payload.doc,scores=result.points.*.score",
        lambda hits: {"result": {"points": [{"score": score, "payload": {"doc": name}} for name, score in hits]}},
        ALL_RIGHT,
        0,
    ),
    # Floats near 2 to the power of 59 have steps of 128: different scores would become equal, so the order counts.
    "svc-typesense": (
        "ids=hits.*.document.id,scores=hits.*.text_match",
        lambda hits: {
            "hits": [{"document": {"id": name}, "text_match": 578730123365712000 + int(score)} for name, score in hits]
        },
        ALL_RIGHT,
        0,
    ),
    "svc-weaviate": (OF_WEAVIATE, lambda hits: weaviate(hits, lambda score: -score), DISTANCES, 3),
    "svc-weaviatestr": (OF_WEAVIATE, lambda hits: weaviate(hits, str), ALL_RIGHT, 0),
}
"""Where the answer has ids and scores, the answer for the best documents and their scores, what the screen shows,
and the exit code."""


@each(SEARCH)
def test_service_of_search(case, capsys):
    places, answer, shows, code = case
    for name, content in CORPUS.items():
        write(Path(name), content)
    server = SearchServer(ea.load("./docs.jsonl,questions=q.jsonl,passages=document"))
    server.behaviours += [lambda server, asked: json.dumps(answer(server.hits(asked["query"], 12))).encode()] * REQUESTS
    try:
        Case(shows, command=f"{RUN} -e e={server.address},{places}", code=code).check(capsys)
    finally:
        server.close()
