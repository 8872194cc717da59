"""``embassay doctor``: what is installed, on one screen, to paste into a bug report.

Comes in: this machine. Goes out: lines in the terminal, which name no key and not the home folder. It loads no model.
"""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from embassay._version import __version__
from embassay.core.cores import cores
from embassay.core.formatting import written_bytes
from embassay.core.plugins import BUILDERS, CORPORA, DIAGNOSTICS, ENCODERS, RETRIEVERS
from embassay.models.neural.library import available_device
from embassay.reports.terminal import print_line, stdout
from embassay.run.cache.folder import default_folder, size_of

VARIABLES = ("EMBASSAY_CACHE", "HF_HOME", "HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")
"""What in the environment decides where models and vectors are found, or how fast they are made; none is a secret."""


def show() -> None:
    """Print versions, plug-ins, models, cache, devices and environment."""
    names = sorted({re.split(r"[^\w.-]", requirement)[0] for requirement in requires("embassay") or ()})
    kinds = (ENCODERS, RETRIEVERS, CORPORA, DIAGNOSTICS, BUILDERS)
    vectors = default_folder()
    sections = {
        "embassay": f"{__version__}, Python {platform.python_version()}",
        "machine": f"{platform.system()} {platform.machine()}, cores: {cores()}",
        "packages": ", ".join(f"{name} {_version(name)}" for name in names),
        "plug-ins": ", ".join(name for kind in kinds for name in kind.other_names()),
        "models": ", ".join(_models()),
        "cache": f"{vectors}: {written_bytes(size_of(vectors))}",
        "devices": available_device("auto") if find_spec("torch") else "cpu (without torch no GPU is used)",
        **{name: os.environ[name] for name in VARIABLES if name in os.environ},
    }
    console = stdout()
    for title, text in sections.items():
        print_line(console, f"{title:<14} {text or 'none'}".replace(str(Path.home()), "~"), indent=15)


def _version(package: str) -> str:
    """Return the version of a package, or that it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _models() -> list[str]:
    """Return the models in the hub's cache, which need no download."""
    if not find_spec("huggingface_hub"):
        return []
    from huggingface_hub import constants

    return sorted(folder.name for folder in Path(constants.HF_HUB_CACHE).glob("models--*"))
