"""Write the built-in handbook as files, to try the commands of the README: docs/ and questions.csv.

    python write_handbook.py [FOLDER]

30 pages of documentation of a fictional product, and 135 questions, 15 of which the pages do not answer.
"""

from __future__ import annotations

import csv
import sys
from importlib.resources import files
from pathlib import Path


def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of the package."""
    text = files("embassay.data").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))


def main(folder: Path) -> None:
    """Write a Markdown file for each page, and a table of questions with the pages that answer them."""
    sentences: dict[str, list[str]] = {}
    page_of: dict[str, str] = {}
    for row in table("handbook.tsv"):
        sentences.setdefault(row["page"], []).append(row["sentence"])
        page_of[row["id"]] = row["page"]
    documents = folder / "docs"
    documents.mkdir(parents=True, exist_ok=True)
    for page, of_page in sentences.items():
        (documents / f"{page}.md").write_text(" ".join(of_page) + "\n", encoding="utf-8")

    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "document"])
        for row in table("handbook_questions.tsv"):
            pages = dict.fromkeys(page_of[sentence] for sentence in row["right"].split())
            writer.writerow([row["question"], " ".join(pages)])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
