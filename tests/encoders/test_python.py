"""Encoders of the user's own: found, checked, known by their source."""

import subprocess
import sys

import numpy as np
import pytest

from embassay.core.errors import EncoderError, SpecError, UnknownNameError
from embassay.run.resolve import load_encoder

SOURCE = """
import numpy as np
from scipy.sparse import csr_array

def lengths(texts):
    return np.array([[len(t), 1.0] for t in texts])

def sparse(texts):
    return csr_array(lengths(texts))

def words(texts):
    return "no numbers"

class Model:
    def __call__(self, texts):
        return lengths(texts)

model = Model()
number = 7
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module in the current folder; a fresh name each time, because Python remembers modules."""
    name = f"mine_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_function_in_the_current_folder(module):
    encoder = load_encoder(f"python:{module}:lengths")
    assert encoder.encode(["abc"]).tolist() == [[3.0, 1.0]]
    assert encoder.encode(["abc"]).dtype == np.float32
    assert encoder.card.spec == f"python:{module}:lengths"


def test_a_callable_object_and_a_sparse_result(module):
    assert load_encoder(f"python:{module}:model").encode(["abc"]).tolist() == [[3.0, 1.0]]
    assert load_encoder(f"python:{module}:sparse").encode(["abc"]).toarray().tolist() == [[3.0, 1.0]]


def test_it_is_known_by_its_source_and_by_its_version(module, tmp_path):
    before = load_encoder(f"python:{module}:lengths").fingerprint
    versioned = load_encoder(f"python:{module}:lengths,version=2").fingerprint
    (tmp_path / f"{module}.py").write_text(SOURCE + "# changed\n")
    assert load_encoder(f"python:{module}:lengths").fingerprint != before
    assert load_encoder(f"python:{module}:lengths,version=2").fingerprint == versioned
    assert versioned != before


def test_a_changed_file_is_run_again_and_never_answers_for_the_old_one(module, tmp_path):
    old = load_encoder(f"python:{module}:lengths")
    (tmp_path / f"{module}.py").write_text(SOURCE.replace("1.0", "7.0"))
    new = load_encoder(f"python:{module}:lengths")
    assert new.fingerprint != old.fingerprint
    assert new.encode(["abc"]).tolist() == [[3.0, 7.0]]


def test_a_function_of_another_file_is_refused_without_a_version(module, tmp_path):
    name = f"{module}_user"
    (tmp_path / f"{name}.py").write_text(f"from {module} import lengths, model\n")
    with pytest.raises(SpecError, match=f"a function of {module}, whose changes"):
        load_encoder(f"python:{name}:lengths")
    assert load_encoder(f"python:{name}:lengths,version=1").encode(["abc"]).tolist() == [[3.0, 1.0]]
    assert load_encoder(f"python:{name}:model").encode(["abc"]).tolist() == [[3.0, 1.0]]


def test_unchanged_modules_are_not_run_twice(tmp_path, monkeypatch):
    name = f"counts_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(
        "import sys\nsys.runs = getattr(sys, 'runs', 0) + 1\ndef f(texts): return [[1.0]]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr("sys.runs", raising=False)
    first, second = (load_encoder(f"python:{name}:f").fingerprint for _ in range(2))
    assert first == second
    assert load_encoder(f"python:{name}:f").encode(["a"]) == [[1.0]]
    assert sys.runs == 1


def test_a_running_script_is_not_run_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import embassay as ea\nprint('top')\n"
        "def f(texts):\n    return [[len(t), 1.0] for t in texts]\n"
        "if __name__ == '__main__':\n    print(ea.encoder('python:__main__:f').encode(['abc']).tolist())\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["top", "[[3.0, 1.0]]", ""]


def test_it_is_known_by_the_file_that_names_it(module, tmp_path):
    source = (
        SOURCE
        + "import functools\n\ndef scaled(texts, k):\n    return lengths(texts) * k\n\n"
        + "part = functools.partial(scaled, k=1)\n"
    )
    (tmp_path / f"{module}.py").write_text(source)
    once = load_encoder(f"python:{module}:part")
    (tmp_path / f"{module}.py").write_text(source.replace("k=1", "k=2"))
    twice = load_encoder(f"python:{module}:part")
    assert once.fingerprint != twice.fingerprint
    assert twice.encode(["abc"]).tolist() == [[6.0, 2.0]]


@pytest.mark.parametrize("text", ["def f(:\n", "raise ValueError('no licence')\n", "import sys\nsys.exit(0)\n"])
def test_a_module_that_fails_is_one_message(tmp_path, monkeypatch, text):
    name = f"fails_{abs(hash(text))}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match=f"{name} fails: (SyntaxError|ValueError: no licence|SystemExit)"):
        load_encoder(f"python:{name}:f")


def test_a_result_that_is_no_array_fails_as_an_encoder(module):
    with pytest.raises(EncoderError, match="returned str"):
        load_encoder(f"python:{module}:words").encode(["a"])


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (
            "np.array([[None, 'a']])",
            r"it returned ndarray of dtype object and shape \(1, 2\), not real numbers of shape \(2, d\)",
        ),
        ("np.ones((1, 3)) * 1j", r"it returned ndarray of dtype complex128 and shape \(1, 3\), not real numbers"),
        ("None", r"it returned NoneType of dtype object and shape \(\), not real numbers"),
        ("[[1.0], [1.0, 2.0]]", "ValueError: setting an array element with a sequence"),
    ],
)
def test_a_wrong_result_is_described(tmp_path, monkeypatch, made, says):
    name = f"wrong_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(f"import numpy as np\ndef f(texts):\n    return {made}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(EncoderError, match=says):
        load_encoder(f"python:{name}:f").encode(["tea", "milk"])


def test_a_failure_inside_names_the_line_of_the_function(module, tmp_path):
    source = (
        "import json\n\ndef inner(text):\n    return json.loads(text)\n\ndef f(texts):\n    return inner(texts[0])\n"
    )
    (tmp_path / f"{module}.py").write_text(source)
    with pytest.raises(EncoderError, match=rf"^JSONDecodeError: .* \({module}\.py, line 7\)$"):
        load_encoder(f"python:{module}:f").encode(["no json"])


def test_what_cannot_be_used(module):
    with pytest.raises(UnknownNameError, match="did you mean 'lengths'"):
        load_encoder(f"python:{module}:length")
    with pytest.raises(EncoderError, match="'int' object is not callable"):
        load_encoder(f"python:{module}:number").encode(["a"])
    with pytest.raises(SpecError, match="No module named"):
        load_encoder("python:no_such_module_here:f")
    with pytest.raises(SpecError, match="write python:module:callable"):
        load_encoder("python:module")


def test_a_function_without_a_source_file_works_and_its_vectors_are_kept_for_a_version_only():
    unknown, other = load_encoder("python:builtins:sorted"), load_encoder("python:builtins:sorted")
    assert unknown.fingerprint == unknown.fingerprint != other.fingerprint
    assert not unknown.card.cached
    assert len(unknown.card.warnings) == 1
    assert unknown.card.warnings[0].endswith("changes whenever its vectors change: python:builtins:sorted,version=1")
    known = load_encoder("python:builtins:sorted,version=1")
    assert known.fingerprint == load_encoder("python:builtins:sorted,version=1").fingerprint
    assert known.card.cached
    assert not known.card.warnings
