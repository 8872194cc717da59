"""Build a release twice, compare the bytes, and try it in an environment of its own.

    python tools/release.py [--tag v0.1.0]      # writes dist/; needs the package build

The wheel and the source archive of both builds must have equal bytes; the version, and for a tag the date, must be
those of CITATION.cff and of the change log. The wheel is installed into a fresh environment, away from the repository,
and runs two encoders on a built-in corpus.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"


def version_of(tag: str) -> str:
    """Return the version, or stop where a tag, CITATION.cff or the change log has another one."""
    text = (ROOT / "src" / "embassay" / "_version.py").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "([^"]+)"', text)[1]
    cited = re.findall(r"^ *version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    changes = re.search(r"^## (\S+)(?: \((.+)\))?$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if set(cited) != {version}:
        raise SystemExit(f"release: CITATION.cff has version {', '.join(cited)}, the package {version}")
    if changes[1] != version:
        raise SystemExit(f"release: CHANGELOG.md begins with {changes[1]}, the package is {version}")
    if tag and tag != f"v{version}":
        raise SystemExit(f"release: the tag is {tag}, the package {version}")
    if tag:
        dated = re.search(r"^date-released: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
        if dated is None or dated[1] != changes[2]:
            raise SystemExit(
                f"release: CHANGELOG.md has {changes[2]!r} as the date of this version; put the same date there and at "
                "date-released in CITATION.cff"
            )
    return version


def build(place: Path) -> dict[str, bytes]:
    """Build the wheel and the source archive, and return their bytes by name."""
    # A fixed time, that of the last commit: archives hold the times of files.
    command = ["git", "log", "-1", "--format=%ct"]
    committed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    environment = {**os.environ, "SOURCE_DATE_EPOCH": committed}
    command = [sys.executable, "-m", "build", "--outdir", str(place), str(ROOT)]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


def try_out(wheel: Path, version: str) -> None:
    """Install the wheel into a fresh environment and use it from an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        programs = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

        def run(*command: str) -> str:
            finished = subprocess.run(  # noqa: S603
                command, cwd=place, env=environment, check=True, capture_output=True, text=True, encoding="utf-8"
            )
            return finished.stdout

        run(str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel))
        if version not in run(str(programs / "embassay"), "--version"):
            raise SystemExit("release: the installed program has another version")
        run(str(programs / "embassay"), "run", "-e", "hashing", "-e", "bow", "-c", "opposites", "-o", "run")
        if not (place / "run" / "report.html").is_file():
            raise SystemExit("release: the installed program wrote no report")


def main() -> None:
    """Build, compare and try."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", default="", help="the tag of the release; without it, unreleased changes are allowed")
    version = version_of(parser.parse_args().tag)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        built, again = build(Path(first)), build(Path(second))
        if built != again:
            raise SystemExit("release: two builds of the same commit have other bytes")
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(first, DIST)
    (wheel,) = DIST.glob("*.whl")
    try_out(wheel, version)
    print("\n".join(f"{name}: {len(content):,} bytes" for name, content in built.items()))


if __name__ == "__main__":
    main()
