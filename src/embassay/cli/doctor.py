"""``embassay doctor``: what is installed, on one screen, to paste into a bug report.

It names no user and no key, and loads no model.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from rich.text import Text

from embassay._version import __version__
from embassay.core.formatting import counted, written_bytes
from embassay.core.plugins import BUILDERS, CORPORA, DIAGNOSTICS, ENCODERS, RETRIEVERS
from embassay.core.processes.cores import cores
from embassay.core.store.files import default_folder, exists, size_of
from embassay.models.neural.library import devices_here
from embassay.models.neural.locations import BUNDLED_PACKAGE
from embassay.reports.terminal import stdout
from embassay.run.cache.cache import LIMIT

CORE = ("numpy", "scipy", "scikit-learn", "polars")
REQUIREMENT = re.compile(r"([\w.-]+).*\bextra == '([\w-]+)'")
"""A package that an extra requires, as the metadata of this package have it."""
PYTHON_BELOW = re.compile(r"python_version < '3\.(\d+)'")
VARIABLES = ("EMBASSAY_CACHE", LIMIT, "HF_HOME", "HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")
"""What in the environment decides where models and vectors are found, or how fast they are made; none is a secret."""
TITLE_WIDTH = 12


def show() -> None:
    """Print versions, extras, plug-ins, models, cache, devices and environment."""
    console = stdout()
    for title, lines in _sections():
        heading = title
        for line in lines:
            console.print(Text(f"{heading:<{TITLE_WIDTH}} {_without_user(line)}"), soft_wrap=True)
            heading = ""


def _without_user(line: str) -> str:
    """Return a line without the path of the home folder, and without folders that have the user's name elsewhere."""
    home = Path.home()
    return re.sub(rf"(?<=/){re.escape(home.name)}(?=/|$)", "USER", line.replace(str(home), "~"))


def _sections() -> Iterator[tuple[str, list[str]]]:
    """Yield the title of each section with its lines, of which there is at least one."""
    system = f"{platform.system()} {platform.machine()}, {counted(cores(), 'core')}"
    versions = ", ".join(f"{package} {version(package)}" for package in CORE)
    yield "embassay", [f"{__version__}, Python {platform.python_version()}, {system}", versions]
    yield "extras", list(_extras())
    others = [
        name for folder in (ENCODERS, RETRIEVERS, CORPORA, DIAGNOSTICS, BUILDERS) for name in folder.other_names()
    ]
    yield "plug-ins", [f"of other packages: {', '.join(others)}" if others else "none of other packages"]
    yield "models", [_models()]
    yield "cache", [_cache()]
    yield "devices", [", ".join(devices_here()) if find_spec("torch") else "cpu (without torch no GPU is used)"]
    given = [f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ]
    yield "environment", [", ".join(given) or f"none of {', '.join(VARIABLES)} is set"]


def _extras() -> Iterator[str]:
    """Yield a line for each extra: the versions of its packages, or the command that installs what is missing."""
    packages_of: dict[str, list[str]] = {}
    for requirement in requires("embassay") or ():
        found = REQUIREMENT.match(requirement)
        below = PYTHON_BELOW.search(requirement)
        # A package may be required by older versions of Python only.
        if found and not (below and sys.version_info >= (3, int(below[1]))):
            packages_of.setdefault(found[2], []).append(found[1])
    del packages_of["all"]
    for extra, packages in packages_of.items():
        installed = {package: number for package in packages if (number := _version(package))}
        missing = [package for package in packages if package not in installed]
        if missing:
            state = f"pip install 'embassay[{extra}]' (missing: {', '.join(missing)})"
        else:
            state = ", ".join(f"{package} {number}" for package, number in installed.items())
        yield f"{extra:<9} {state}"


def _version(package: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _models() -> str:
    """Return which models need no download."""
    at_hand = []
    if bundled := _version(BUNDLED_PACKAGE):
        at_hand.append(f"all-MiniLM-L6-v2 (package {BUNDLED_PACKAGE} {bundled})")
    if find_spec("huggingface_hub"):
        from huggingface_hub import constants

        folders = Path(constants.HF_HUB_CACHE).glob("models--*")
        at_hand += sorted(folder.name.removeprefix("models--").replace("--", "/") for folder in folders)
    return ", ".join(at_hand) or "none on this machine: a model is downloaded from the hub when it is first used"


def _cache() -> str:
    """Return where the vector cache is and how large it is."""
    folder = default_folder()
    if not exists(folder):
        return f"{folder}: no vectors yet"
    return f"{folder}: {written_bytes(size_of(folder))} ('embassay cache info' says more)"
