"""``embassay doctor``: what is installed, on one screen, to paste into a bug report.

It names no user and no key, and loads no model.
"""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from rich.text import Text

from embassay._version import __version__
from embassay.core.cores import cores
from embassay.core.formatting import counted, written_bytes
from embassay.core.plugins import BUILDERS, CORPORA, DIAGNOSTICS, ENCODERS, RETRIEVERS
from embassay.core.store.files import default_folder, exists, size_of
from embassay.models.neural.library import devices_here
from embassay.models.neural.locations import BUNDLED_PACKAGE
from embassay.reports.terminal import stdout

CORE = ("numpy", "scipy", "scikit-learn", "polars")
REQUIREMENT = re.compile(r"([\w.-]+).*\bextra == '([\w-]+)'")
"""A package that an extra requires, as the metadata of this package have it."""
VARIABLES = ("EMBASSAY_CACHE", "HF_HOME", "HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")
"""What in the environment decides where models and vectors are found, or how fast they are made; none is a secret."""
TITLE_WIDTH = 12


def show() -> None:
    """Print versions, extras, plug-ins, models, cache, devices and environment."""
    console = stdout()
    for title, lines in _sections().items():
        for place, line in enumerate(lines):
            heading = "" if place else title
            console.print(Text(f"{heading:<{TITLE_WIDTH}} {_without_user(line)}"), soft_wrap=True)


def _without_user(line: str) -> str:
    """Return a line without the path of the home folder, and without folders that have the user's name elsewhere."""
    home = Path.home()
    return re.sub(rf"(?<=/){re.escape(home.name)}(?=/|$)", "USER", line.replace(str(home), "~"))


def _sections() -> dict[str, list[str]]:
    """Return the lines of each section by its title."""
    system = f"{platform.system()} {platform.machine()}, {counted(cores(), 'core')}"
    folders = (ENCODERS, RETRIEVERS, CORPORA, DIAGNOSTICS, BUILDERS)
    others = [name for folder in folders for name in folder.other_names()]
    given = [f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ]
    vectors = default_folder()
    size = written_bytes(size_of(vectors)) if exists(vectors) else "no vectors yet"
    return {
        "embassay": [
            f"{__version__}, Python {platform.python_version()}, {system}",
            ", ".join(f"{package} {version(package)}" for package in CORE),
        ],
        "extras": _extras(),
        "plug-ins": [f"of other packages: {', '.join(others) or 'none'}"],
        "models": [", ".join(_models()) or "none on this machine"],
        "cache": [f"{vectors}: {size}"],
        "devices": [", ".join(devices_here()) if find_spec("torch") else "cpu (without torch no GPU is used)"],
        "environment": [", ".join(given) or f"none of {', '.join(VARIABLES)} is set"],
    }


def _extras() -> list[str]:
    """Return a line for each extra: the versions of its packages, or the command that installs what is missing."""
    packages_of: dict[str, list[str]] = {}
    for requirement in requires("embassay") or ():
        found = REQUIREMENT.match(requirement)
        if found:
            packages_of.setdefault(found[2], []).append(found[1])
    del packages_of["all"]
    lines = []
    for extra, packages in packages_of.items():
        versions = {package: _version(package) for package in packages}
        state = ", ".join(f"{package} {number}" for package, number in versions.items())
        if missing := [package for package, number in versions.items() if not number]:
            state = f"pip install 'embassay[{extra}]' (missing: {', '.join(missing)})"
        lines.append(f"{extra:<9} {state}")
    return lines


def _version(package: str) -> str:
    """Return the version of an installed package; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _models() -> list[str]:
    """Return which models need no download."""
    bundled = [f"all-MiniLM-L6-v2 (package {BUNDLED_PACKAGE})"] if _version(BUNDLED_PACKAGE) else []
    if not find_spec("huggingface_hub"):
        return bundled
    from huggingface_hub import constants

    folders = sorted(folder.name for folder in Path(constants.HF_HUB_CACHE).glob("models--*"))
    return [*bundled, *(name.removeprefix("models--").replace("--", "/") for name in folders)]
