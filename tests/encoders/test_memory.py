"""What does not fit is foreseen before anything is loaded: on the CPU before a run, on a GPU when a model is loaded."""

import pytest

from embassay.encoders.neural import memory
from embassay.errors import EncoderError

LARGE = int(28e9)


def test_parameters_are_compared_with_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free", lambda device: int(8e9))
    said = memory.lack(7 * 10**9, "float32", "cpu")
    assert (
        said == "its weights need 28.0 GB in float32, but cpu has only 8.0 GB free; dtype=bfloat16 needs half as much"
    )
    assert memory.lack(7 * 10**9, "bfloat16", "cpu,cpu").startswith("2 copies of its weights need 28.0 GB")
    assert not memory.lack(10**9, "float32", "cpu")
    assert not memory.lack(None, "float32", "cpu")


def test_a_gpu_is_asked_when_the_model_is_loaded(monkeypatch):
    torch = pytest.importorskip("torch", reason="the hf extra is not installed")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (int(24e9), int(80e9)))
    with pytest.raises(EncoderError, match=r"need 28\.0 GB in float32, but cuda:0 has only 24\.0 GB free"):
        memory.check_fits(LARGE, "float32", ["cuda:0"])
    memory.check_fits(LARGE // 2, "bfloat16", ["cuda:0"])


def test_before_that_nothing_is_said_of_a_gpu(monkeypatch):
    """Only torch knows its memory, and importing torch takes seconds."""
    monkeypatch.setattr(memory, "is_surely_cpu", lambda device: device == "cpu")
    monkeypatch.setattr(memory, "free", lambda device: 1000)
    assert not memory.foreseen(LARGE, "float32", "auto")
    assert not memory.foreseen(LARGE, "float32", "cuda:0")
    assert memory.foreseen(2000, "float32", "cpu")
