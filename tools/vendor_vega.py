"""Write the Vega bundle of the report and the licences of everything in it.

Run by ``make vendor``; needs npm. The bundle is what vl-convert makes of
Vega, Vega-Lite and Vega-Embed; the licence texts are those of the packages that npm installs for them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import vl_convert

TARGET = Path(__file__).parent.parent / "src" / "embassay" / "reports" / "vendor"
VEGA_LITE = "6.4"


def licences(folder: Path) -> str:
    """Return the licence texts of all packages under ``node_modules``, each text once."""
    packages: dict[str, list[str]] = {}
    for manifest in sorted(folder.glob("node_modules/**/package.json")):
        data = json.loads(manifest.read_text(encoding="utf-8"))
        # Spelt LICENSE or LICENCE.
        paths = [path for path in manifest.parent.iterdir() if path.name.upper().startswith("LICEN")]
        if not paths or "version" not in data:
            continue
        text = paths[0].read_text(encoding="utf-8").strip()
        name = f"{data['name']} {data['version']} ({data.get('license')})"
        packages.setdefault(text, []).append(name)
    sections = []
    for text, names in packages.items():
        # One version of a package may be installed in several folders.
        listed = "\n".join(dict.fromkeys(names))
        sections.append(f"{listed}\n\n{text}")
    rule = "\n\n" + "=" * 80 + "\n"
    return rule.join(sections) + "\n"


def main() -> None:
    """Write vega.js and LICENSES.txt."""
    bundle = vl_convert.javascript_bundle(vl_version=VEGA_LITE)
    # An HTML parser ends a script element at this sequence, wherever it stands.
    (TARGET / "vega.js").write_text(bundle.replace("</script", "<\\/script"), encoding="utf-8")
    wanted = [
        f"vega@{vl_convert.get_vega_version()}",
        f"vega-lite@{VEGA_LITE}",
        f"vega-embed@{vl_convert.get_vega_embed_version()}",
        "lodash.debounce",
    ]
    with tempfile.TemporaryDirectory() as temporary:
        subprocess.run(["npm", "install", "--silent", "--prefix", temporary, *wanted], check=True)  # noqa: S603, S607
        (TARGET / "LICENSES.txt").write_text(licences(Path(temporary)), encoding="utf-8")
    print(f"{TARGET}: {' '.join(wanted)}", file=sys.stderr)


if __name__ == "__main__":
    main()
