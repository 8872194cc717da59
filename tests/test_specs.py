"""The little language of specs, and options bound to a signature."""

from typing import Literal

import pytest

from embassay.core.errors import SpecError, UnknownNameError
from embassay.run.specs import Spec, bind, parse


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("bow", Spec("bow")),
        ("a=bow", Spec("bow", "a")),
        ("org/name,dim=64,dtype=float16", Spec("org/name", None, {"dim": "64", "dtype": "float16"})),
        ("my model=./folder , dim = 3", Spec("./folder", "my model", {"dim": " 3"})),
        ("./run=1/own.json", Spec("./run=1/own.json")),
        ("a/b=c", Spec("a/b=c")),
        ("python:m:f,version=", Spec("python:m:f", None, {"version": ""})),
        ("x=a=b", Spec("a=b", "x")),
    ],
)
def test_parts_of_a_spec(text, spec):
    assert parse(text, "encoder") == spec


def example(target, *, size: int = 1, rate: float | None = None, deep: bool = False, way: Literal["a", "b"] = "a"):
    return target, size, rate, deep, way


def test_options_are_converted_by_their_annotations():
    bound = bind(example, {"size": "3", "rate": "0.5", "deep": "yes", "way": "b"}, "x")
    assert bound == {"size": 3, "rate": 0.5, "deep": True, "way": "b"}
    assert bind(example, {"deep": False, "size": 4}, "x") == {"deep": False, "size": 4}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"size": "three"}, "option 'size': must be a valid integer, is 'three'"),
        ({"deep": "perhaps"}, "valid boolean, is 'perhaps'"),
        ({"size": 64.9}, "valid integer, is 64.9"),
        ({"size": True}, "valid integer, is True"),
        ({"deep": 1}, "valid boolean, is 1"),
        ({"way": "c"}, "must be 'a' or 'b', is 'c'"),
    ],
)
def test_a_value_that_does_not_fit(options, says):
    with pytest.raises(SpecError, match=says):
        bind(example, options, "encoder 'x'")


def test_an_unknown_option_has_a_guess_and_the_list():
    with pytest.raises(UnknownNameError, match=r"did you mean 'size'\? Known: deep, rate, size, way"):
        bind(example, {"sise": "3"}, "encoder 'x'")
    with pytest.raises(UnknownNameError, match=r"Options of parts"):
        bind(example, {"size": "3", "stemmer": "english"}, "encoder 'x'", "Options of parts are set elsewhere.")


@pytest.mark.parametrize(
    "text", ["api:m,base_url=https://u:secret@h/v1,oops", "api:m,k=u:pa,ss-secret", "a,x=secret,x=2"]
)
def test_a_value_is_never_repeated_as_it_may_hold_a_password(text):
    with pytest.raises(SpecError) as failure:
        parse(text, "encoder")
    assert "secret" not in str(failure.value)
