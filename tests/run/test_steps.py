"""What each candidate is derived from, and by what kind of step."""

from dataclasses import dataclass

import pytest

import embassay as ea
from embassay.core.result import CHANGES
from embassay.core.types import Card
from embassay.models.base import BaseEncoder
from embassay.run.candidates import RunEncoder, with_bases
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_candidate


@dataclass(frozen=True)
class Model(BaseEncoder):
    """A model with these options."""

    card: Card
    name: str = "model"
    fingerprint: str = "model"


def model(label, target="st:m", original="", remote=False, **options):
    return RunEncoder(label, Model(Card(target, target=target, options=options, remote=remote)), original=original)


def steps(*entries):
    return {entry.label: (*entry.parts, entry.step) for entry in with_bases(entries)}


MODEL = ("",)


@pytest.mark.parametrize(
    ("options", "step"),
    [
        ({"vectors": "int8"}, "int8"),
        ({"vectors": "binary"}, "binary"),
        ({"dtype": "float16"}, "dtype"),
        ({"dim": 64}, "dim"),
        ({"query_prompt": "query: "}, "prompt"),
        ({"document_prompt": ""}, "prompt"),
        ({"text_prompt": "text: "}, "prompt"),
        # Several options are named by the first of them.
        ({"dim": 64, "vectors": "int8"}, "int8"),
        ({"query_prompt": "query: ", "dim": 64}, "dim"),
    ],
)
def test_an_option_is_a_step_on_the_candidate_without_it(options, step):
    # Whichever comes first in the run.
    for entries in ([model("m"), model("other", **options)], [model("other", **options), model("m")]):
        assert steps(*entries) == {"m": MODEL, "other": ("m", step)}
    assert step in CHANGES


def test_of_several_options_the_nearest_candidate_is_the_base():
    assert steps(
        model("small8", dim=64, vectors="int8"), model("m"), model("m8", vectors="int8"), model("small", dim=64)
    ) == {"small8": ("m8", "dim"), "m": MODEL, "m8": ("m", "int8"), "small": ("m", "dim")}


def test_without_a_candidate_without_the_option_the_first_is_the_base():
    assert steps(model("m,dim=64", dim=64), model("m,dim=128", dim=128), model("m,dim=256", dim=256)) == {
        "m,dim=64": MODEL,
        "m,dim=128": ("m,dim=64", "dim"),
        "m,dim=256": ("m,dim=64", "dim"),
    }
    both = steps(model("b", vectors="binary"), model("s", dim=64), model("sb", dim=64, vectors="binary"))
    assert both == {"b": MODEL, "s": ("b", "dim"), "sb": ("b", "dim")}


def test_other_targets_and_other_options_are_models_of_their_own():
    entries = [
        model("m"),
        model("n", "st:n", dim=64),
        model("short", max_length=64),
        model("short8", max_length=64, vectors="int8"),
        model("again"),
        RunEncoder("object", Model(Card("object:Mine"))),
        RunEncoder("object2", Model(Card("object:Mine"))),
    ]
    expected = dict.fromkeys(["m", "n", "short", "again", "object", "object2"], MODEL)
    assert steps(*entries) == {**expected, "short8": ("short", "int8")}


def test_an_index_a_fusion_and_a_reranker_say_it_themselves_and_an_exact_search_is_no_step():
    pytest.importorskip("faiss")
    specs = {"index": "store:faiss,encoder=m", "exact": "store:faiss,encoder=m,index=none", "both": "hybrid:m+bm25"}
    entries = [RunEncoder(label, load_candidate(spec)) for label, spec in specs.items()]
    entries += [model("m"), RunEncoder("bm25", load_candidate("bm25"))]
    assert steps(*entries) == {
        "index": ("m", "index"),
        "exact": ("m", ""),
        "both": ("m", "bm25", "fusion"),
        "m": MODEL,
        "bm25": MODEL,
    }


def test_a_spec_says_the_original_and_the_result_has_it():
    plan = prepare(RunRequest(["m=hashing", "x=hashing,original=m"], "handbook", "retrieval", quiet=True))
    origins = [plan.origin(task, entry, "") for entry in plan.entries[:2] for task in plan.tasks]
    assert [(origin.encoder, origin.parts, origin.step) for origin in origins] == [
        ("m", (), ""),
        ("x", ("m",), "export"),
    ]
    result = ea.assay(["m=hashing", "x=hashing,original=m"], "handbook", "retrieval", cache=None, resamples=50)
    records = {record.name: (record.parts, record.step) for record in result.encoders}
    assert records["x"] == (("m",), "export")
    assert records["m"] == ((), "")
