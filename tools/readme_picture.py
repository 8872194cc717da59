"""Draw the first screen in README.md as a picture: docs/first_screen.svg.

    python tools/readme_picture.py

The text is that of the first console block of the README, whose output a test compares with a real run.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "first_screen.svg"
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
LINE_HEIGHT = 19
CHARACTER = 8.43
"""Width of a character of the font at 14 px."""
MARGIN = 18
COLOURS = {"▲": "#4ec07a", "▼": "#f07470", "?": "#d9b44a"}
"""The colours of the marks of the scorecard."""


def shown(readme: str) -> list[str]:
    """Return the command and the lines of the first screen."""
    return CONSOLE.findall(readme)[0].rstrip().split("\n")


def svg(lines: list[str]) -> str:
    """Return a picture of lines of a terminal."""
    width = round(max(map(len, lines)) * CHARACTER) + 2 * MARGIN
    height = len(lines) * LINE_HEIGHT + 2 * MARGIN
    texts = []
    for place, line in enumerate(lines):
        y = MARGIN + 14 + place * LINE_HEIGHT
        texts.append(f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{_coloured(line)}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            "<title>The first screen of embassay run: answers, scorecard, what to do next</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#16181d"/>',
            f'<g font-family="{FONTS}" font-size="14" fill="#d6d9de">',
            *texts,
            "</g>",
            "</svg>",
            "",
        ]
    )


def _coloured(line: str) -> str:
    """Return a line as SVG: marks of the scorecard have their colour, headings are bold."""
    is_heading = line in ("Read first", "Also") or re.match(r"\S[^●─]* on \S+: ", line)
    if is_heading or line.startswith("$ "):
        return f'<tspan font-weight="bold" fill="#ffffff">{escape(line)}</tspan>'
    before, mark, after = re.fullmatch(r"(.*?% )?([▲▼?](?= ))?(.*)", line).groups()
    if before is None or mark is None:
        return escape(line)
    return f'{escape(before)}<tspan font-weight="bold" fill="{COLOURS[mark]}">{mark}</tspan>{escape(after)}'


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(svg(shown((ROOT / "README.md").read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
