"""What does not fit is foreseen before anything is loaded: on the CPU without torch, on a GPU by asking it."""

import sys

import pytest

from embassay.encoders.neural import memory

LARGE = int(28e9)


@pytest.fixture
def gpu(monkeypatch):
    """A machine with one GPU, on which 24 GB are free."""
    torch = pytest.importorskip("torch", reason="the hf extra is not installed")
    monkeypatch.setattr(memory, "is_surely_cpu", lambda device: device == "cpu")
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (int(24e9), int(80e9)))


def test_parameters_are_compared_with_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free", lambda device: int(8e9))
    said = memory.lack(7 * 10**9, "float32", "cpu")
    assert (
        said == "its weights need 28.0 GB in float32, but cpu has only 8.0 GB free; dtype=bfloat16 needs half as much"
    )
    assert memory.lack(7 * 10**9, "bfloat16", "cpu,cpu").startswith("2 copies of its weights need 28.0 GB")
    assert not memory.lack(10**9, "float32", "cpu")
    assert not memory.lack(None, "float32", "cpu")


@pytest.mark.parametrize("device", ["auto", "cuda", "cuda:0"])
def test_a_gpu_is_asked(gpu, device):
    assert "24.0 GB free" in memory.foreseen(LARGE, "float32", device)
    assert not memory.foreseen(LARGE // 2, "bfloat16", device)


def test_one_that_is_not_there_is_said_where_the_model_is_loaded(gpu):
    assert memory.free("cuda:1") is None


def test_without_torch_nothing_is_told_of_a_gpu(monkeypatch):
    monkeypatch.setattr(memory, "is_surely_cpu", lambda device: device == "cpu")
    monkeypatch.setattr(memory, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it would fail
    assert not memory.foreseen(LARGE, "float32", "auto")
    assert not memory.foreseen(LARGE, "float32", "cuda:0")


def test_torch_is_asked_for_neither_small_models_nor_the_cpu(monkeypatch):
    asked = []
    monkeypatch.setattr(memory, "is_surely_cpu", lambda device: device == "cpu")
    monkeypatch.setattr(memory, "_free_ram", lambda: 1000)
    monkeypatch.setattr(memory, "find_spec", asked.append)
    assert not memory.foreseen(int(9e7), "float32", "auto")
    assert memory.foreseen(2000, "float32", "cpu")
    assert not asked
    memory.foreseen(LARGE, "float32", "auto")
    assert asked
