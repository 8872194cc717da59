"""Files that are no UTF-8 text: the message names what they are and what to do."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest

import embassay as ea
from embassay.core.errors import SourceError
from embassay.run.config import read as read_config


def archive(*names):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name in names:
            file.writestr(name, "x")
    return content.getvalue()


TABLE = "sentence1,sentence2,score\nIt rained.,It poured.,4\n"
BINARY = "a binary file, not a text file; export a table as CSV (UTF-8), save the text of a document as .txt (UTF-8)"
OTHERS = {
    "a.xlsx": (archive("[Content_Types].xml", "xl/workbook.xml"), BINARY),
    "broken.zip": (archive("a.csv")[:20], BINARY),
    "a.csv.gz": (gzip.compress(TABLE.encode()), BINARY),
    "a.pdf": (b"%PDF-1.7\n%\xe2\xe3", BINARY),
    "a.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", BINARY),
    "a.sqlite": (b"SQLite format 3\x00\x10", BINARY),
    "utf16.csv": (TABLE.encode("utf-16"), BINARY),
}


@pytest.fixture(params=OTHERS)
def other(request, tmp_path):
    content, message = OTHERS[request.param]
    path = tmp_path / request.param
    path.write_bytes(content)
    return path, message


@pytest.fixture
def docs(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text("id,text\na,It rained.\n")
    return path


READERS = {
    "corpus": lambda path, docs: ea.load(str(path)),
    "pairs": lambda path, docs: ea.load(f"{path},loader=pairs"),
    "JSON lines": lambda path, docs: ea.load(f"{path},loader=composition"),
    "JSON": lambda path, docs: ea.load(f"{path},loader=squad"),
    "documents": lambda path, docs: ea.load(f"{path},questions={docs}"),
    "questions": lambda path, docs: ea.load(f"{docs},questions={path}"),
    "sentences": lambda path, docs: ea.build("minimal-pairs", path),
    "sources": lambda path, docs: ea.build("composition", path),
    "sheet": lambda path, docs: ea.rate([path]),
}


@pytest.mark.parametrize("reader", READERS)
def test_another_form_is_named_with_its_remedy(reader, other, docs):
    path, message = other
    with pytest.raises(SourceError) as error:
        READERS[reader](path, docs)
    assert str(error.value).startswith(f"{path}: {message}")


def test_another_form_in_a_folder_of_documents_is_named(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_bytes(OTHERS["a.xlsx"][0])
    with pytest.raises(SourceError, match=r"left out: a binary file.* \(a\.txt\)"):
        ea.build("composition", folder)


@pytest.mark.parametrize("reader", ["corpus", "pairs", "sentences"])
def test_another_encoding_is_named_with_its_line(reader, tmp_path, docs):
    path = tmp_path / "my table.csv"
    path.write_bytes("sentence1,sentence2\nIl a plu.,Le café est fermé.\n".encode("cp1252"))
    with pytest.raises(SourceError) as error:
        READERS[reader](path, docs)
    command = "iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE"
    assert str(error.value) == f"{path}, line 2: not UTF-8 text; if it is from Windows: {command}"


def test_a_config_in_another_form_is_named(tmp_path):
    path = tmp_path / "run.toml"
    path.write_bytes('device = "cpu" # é\n'.encode("latin-1"))
    with pytest.raises(SourceError, match="line 1: not UTF-8 text"):
        read_config(path)
    path.write_bytes(b"\xef\xbb\xbfdevice = 'cpu'\n")
    assert read_config(path).device == "cpu"


@pytest.mark.parametrize("reader", ["corpus", "pairs", "JSON lines", "JSON", "documents", "questions", "sentences"])
def test_a_mark_and_nothing_else_is_an_empty_file(reader, tmp_path, docs):
    path = tmp_path / "marks.csv"
    path.write_bytes(b"\xef\xbb\xbf")
    with pytest.raises(SourceError, match=r"is empty|has no .* column|no two columns|no sentence|no samples|not JSON"):
        READERS[reader](path, docs)
