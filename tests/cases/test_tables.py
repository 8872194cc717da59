"""Tables, JSON, Parquet, SQuAD and BEIR files as spreadsheets, pandas, annotation tools and the hub write them."""

import json
import re

import polars as pl

from cases.case import Case, each, lines

DOCS = {
    "docs/boots.md": "# Boots\n\nRubber boots keep feet dry in the rain.\n",
    "docs/clock/sundial.md": "# Sundial\n\nA sundial shows the hour without a clock.\n",
    "docs/kettle.md": "# Kettle\n\nThe red kettle boils water in two minutes.\n",
}
TWO = r"\b2 questions"
SUNDIAL = "did you mean 'clock/sundial'"


def asked(table, name="q.csv", **others):
    """Return the files of a folder of documents and a table of questions."""
    return {**DOCS, name: table, **others}


def ask(*rows):
    """Return a table of questions: rows of a question and a document."""
    return asked("question,document\n" + "".join(f"{row}\n" for row in rows))


def beir(judgements, title=""):
    """Return the files of a BEIR folder with three queries and three documents."""
    texts = ["The red kettle boils water.", "Rubber boots keep feet dry.", "A sundial shows the hour."]
    queries = ["How fast is the kettle?", "What keeps feet dry?", "How to tell the hour?"]
    return {
        "data/corpus.jsonl": lines({"_id": f"d{n}", "title": title, "text": text} for n, text in enumerate(texts)),
        "data/queries.jsonl": lines({"_id": f"q{n}", "text": text} for n, text in enumerate(queries)),
        "data/qrels/test.tsv": judgements,
    }


HEADER = "query-id\tcorpus-id\tscore\n"
JUDGEMENTS = "q0\td0\t1\nq1\td1\t1\nq2\td2\t1\n"
NEEDED = "line 1, field 'query-id': missing; found "
LOOK = "look -c b=data"
INTEGERS = {name: re.sub(r'"?[qd](\d)"?', r"\1", text) for name, text in beir(HEADER + JUDGEMENTS).items()}

BEIR = {
    "beir-comma": Case("3 questions", beir((HEADER + JUDGEMENTS).replace("\t", ",")), LOOK),
    "beir-crlf-bom": Case("3 questions", beir("\ufeff" + (HEADER + JUDGEMENTS).replace("\n", "\r\n")), LOOK),
    "beir-dup-qrels": Case(("3 questions", "1 judgement repeated"), beir(f"{HEADER}q0\td0\t1\n{JUDGEMENTS}"), LOOK),
    # Data sets on the hub have scores as float64.
    "beir-float-scores": Case("3 questions", beir(HEADER + JUDGEMENTS.replace("1\n", "1.0\n")), LOOK),
    "beir-header-case": Case("3 questions", beir("Query-ID\tCorpus-ID\tScore\n" + JUDGEMENTS), LOOK),
    "beir-int-ids": Case("3 questions", INTEGERS, LOOK),
    "beir-nan-json": Case(
        r"corpus\.jsonl, line 1, field 'title'", beir(HEADER + JUDGEMENTS, title=float("nan")), LOOK, code=2
    ),
    "beir-negative": Case(
        ("3 documents, 2 questions", "2 judgements with grade 0 or less"),
        beir(f"{HEADER}q0\td0\t1\nq0\td1\t-2\nq1\td1\t-1\nq2\td2\t2\n"),
        LOOK,
    ),
    "beir-trec-qrels": Case("3 questions", beir("q0 0 d0 1\nq1 0 d1 1\nq2 0 d2 1\n"), LOOK),
    "beir-underscore-header": Case(NEEDED, beir("query_id\tdoc_id\trelevance\n" + JUDGEMENTS), LOOK, code=2),
    "pq-beir-hub": Case(
        r"corpus\.jsonl, queries\.jsonl, qrels/",
        {
            "data/corpus/test.parquet": pl.DataFrame({"_id": ["d0"], "title": [""], "text": ["The kettle boils."]}),
            "data/queries/test.parquet": pl.DataFrame({"_id": ["q0"], "text": ["How fast?"]}),
            "data/data/test.parquet": pl.DataFrame({"query-id": ["q0"], "corpus-id": ["d0"], "score": [1.0]}),
        },
        LOOK,
        code=2,
    ),
}

QUESTIONS = {
    "csv-backslash-path": Case(SUNDIAL, ask(r"How to tell the hour?,clock\sundial.md", "Dry feet?,boots.md"), code=2),
    "csv-case": Case(SUNDIAL, ask("How to tell the hour?,Clock/Sundial.md", "Dry feet?,BOOTS"), code=2),
    "csv-cp1252": Case(
        "iconv -f WINDOWS-1252 -t UTF-8",
        asked("question,document\nQue dit l’horloge à midi?,clock/sundial\n".encode("cp1252")),
        code=2,
    ),
    "csv-html-url": Case(SUNDIAL, ask("How to tell the hour?,/clock/sundial/", "Dry feet?,boots"), code=2),
    "csv-nan-cells": Case("'NaN'.* empty", ask("How fast?,kettle", "Who won?,NaN", "Who lost?,None"), code=2),
    "csv-sep-line": Case(TWO, asked("sep=;\r\nquestion;document\r\nHow fast?;kettle\r\nDry?;boots\r\n")),
    "csv-space-after-comma": Case(
        (TWO, "question How fast, exactly"),
        asked('question, document\n"How fast, exactly?", "kettle"\n"Dry?", "boots"\n'),
    ),
    "csv-trailing-comma": Case("line 2: 3 columns; the header has 2", ask("How fast?,kettle,", "Dry?,boots,"), code=2),
    "csv-unnamed-index": Case(TWO, asked(",question,document\n0,How fast?,kettle\n1,Dry feet?,boots\n")),
    "json-array-bare": Case(
        "JSON (array|list)",
        {"q.json": '[\n {"question": "How fast?", "answers": ["fast"], "context": "It boils."}\n]\n'},
        "look -c q.json",
        code=2,
    ),
    "json-array-docs": Case(
        "JSON (array|list)",
        asked("question,document\nHow?,a\n", **{"table.json": '[\n {"id": "a", "text": "The kettle boils."}\n]\n'}),
        "look -c m=table.json,questions=q.csv",
        code=2,
    ),
    "jsonl-crlf-blank": Case(
        TWO,
        asked(
            '{"question": "How fast?", "document": "kettle"}\r\n\r\n{"question": "Dry?", "document": ["boots"]}\r\n',
            "q.jsonl",
        ),
        "look -c m=docs,questions=q.jsonl",
    ),
    "jsonl-nested": Case(
        "line 1, field 'document\\.0'",
        asked('{"question": "How fast?", "document": [["kettle"]]}\n', "q.jsonl"),
        "look -c m=docs,questions=q.jsonl",
        code=2,
    ),
    # macOS decomposes the names of files.
    "nfd-file-nfc-id": Case(
        TWO,
        ask("Where is coffee?,caf\u00e9", "Dry feet?,boots") | {"docs/cafe\u0301.md": "Coffee is served until five.\n"},
    ),
    "tsv-quoted-silent": Case(
        'question What does "boil" mean',
        asked('question\tdocument\n"What does ""boil"" mean?"\tkettle\nDry feet?\tboots\n', "q.tsv"),
        "look -c m=docs,questions=q.tsv",
    ),
    "zero-width-id": Case(r"'kettle\\u200b'", ask("How fast?,kettle\u200b", "Dry feet?,\u00a0boots"), code=2),
}

PARQUET_TEXTS = ["The kettle boils in two minutes.", "Rubber boots keep feet dry.", "A sundial shows the hour."]
PARQUET_LOOK = "look -c m=docs.parquet,questions=q.parquet"


def parquet(ids, documents, dtype=None, texts=PARQUET_TEXTS):
    """Return tables of three documents and of questions, with the documents that answer them."""
    answers = pl.Series("document", documents, dtype=dtype)
    asking = pl.DataFrame({"question": ["How fast?", "Dry feet?"][: len(documents)], "document": answers})
    ids = pl.Series("id", ids, dtype=dtype if dtype == pl.Categorical else None)
    return {"docs.parquet": pl.DataFrame({"id": ids, "text": texts}), "q.parquet": asking}


PARQUET = {
    "pq-categorical": Case("1 question", parquet(["a", "b", "c"], ["a"], pl.Categorical), PARQUET_LOOK),
    "pq-int-ids": Case(TWO, parquet([7, 8, 9], [7, 8]), PARQUET_LOOK),
    "pq-list-int-ids": Case(
        f"{TWO}, 1 of them not answered", parquet([7, 8, 9], [[7, 8], []], pl.List(pl.Int64)), PARQUET_LOOK
    ),
    "pq-nl-in-text": Case(
        "1 question",
        parquet(["a", "b", "c"], ["a"], texts=["line\r\n\r\nline two of the text\x00", *PARQUET_TEXTS[1:]]),
        PARQUET_LOOK,
    ),
    "pq-null-doc": Case(f"{TWO}, 1 of them not answered", parquet([7, 8, 9], [7, None]), PARQUET_LOOK),
    "pq-uuid-binary": Case(
        "field 'id': must be a text", parquet([b"\x01", b"\x02", b"\x03"], [b"\x01"]), PARQUET_LOOK, code=2
    ),
}


def pairs(**last):
    """Return a table of three pairs with one more column, as Parquet."""
    first = ["The cat sat.", 'He said "go".', "It rains."]
    second = ["A cat was sitting.", "He told us to go.", "The sun shines, today."]
    return {"p.parquet": pl.DataFrame({"sentence1": first, "sentence2": second, **last})}


SCORES = pairs(score=[4.5, 4.0, 0.5])
THREE = "p: pairs.* items 3"
STS = "look -c p=s.csv"
QQP = {
    "qqp.csv": "id,qid1,qid2,question1,question2,is_duplicate\n"
    '0,0,1,"The cat sat.","A cat was sitting.",1\n1,2,3,"He said ""go"".","He told us.",1\n2,4,5,"It rains.",Sun.,0\n'
}

PAIRS = {
    "pairs-csv-decimal-comma": Case(
        "items 2", {"s.csv": "sentence1;sentence2;score\nThe cat sat.;A cat sits.;4,5\nIt rains.;Sun.;0,5\n"}, STS
    ),
    "pairs-csv-lone-cr": Case("line 2", {"s.csv": "sentence1,sentence2,score\nThe cat\rsat.,A cat.,4\n"}, STS, code=2),
    "pairs-csv-percent": Case(
        "line 2, field 'score'", {"s.csv": "sentence1,sentence2,score\nThe cat sat.,A cat sits.,90%\n"}, STS, code=2
    ),
    "pairs-duplicate-rows": Case(
        "items 3, units 1, duplicates 2",
        {"s.csv": "sentence1,sentence2,score\n" + "The cat sat.,A cat was sitting.,4.5\n" * 3},
        STS,
    ),
    "pairs-jsonl-labels-nested": Case(
        "line 1, field 'sentence1': must be a text, is of type list",
        {"s.jsonl": '{"sentence1": ["a b", "c d"], "sentence2": ["e f", "g h"], "labels": [1, 0]}\n'},
        "look -c p=s.jsonl",
        code=2,
    ),
    "pairs-parquet-label-bool": Case(
        "groups", pairs(label=[True, True, False]), "look -c p=p.parquet", hides="unrecog", code=(0, 2)
    ),
    "pairs-parquet-label-float": Case(
        "label is not yes or no in each row; .* score=label", pairs(label=[0.9, 0.8, 0.1]), "look -c p=p.parquet"
    ),
    "pairs-parquet-label-float-loader": Case(
        "field 'sentence': missing", pairs(label=[0.9, 0.8, 0.1]), "look -c p=p.parquet,loader=groups", code=2
    ),
    "pairs-parquet-label-int-loader": Case(
        "field 'sentence': missing", pairs(label=[1, 1, 0]), "look -c p=p.parquet,loader=groups", code=2
    ),
    "pairs-parquet-named": Case(THREE, SCORES, "look -c p=p.parquet,first=sentence1,second=sentence2,score=score"),
    "pairs-parquet-nan-loader": Case(
        rf"{THREE}|(line|row) \d",
        pairs(score=[4.5, float("nan"), 0.5]),
        "look -c p=p.parquet,loader=pairs",
        code=(0, 2),
    ),
    "pairs-parquet-null": Case((THREE, "1 .*without a score"), pairs(score=[4.5, None, 0.5]), "look -c p=p.parquet"),
    "pairs-parquet-stsb": Case(THREE, SCORES, "look -c p=p.parquet"),
    "pairs-parquet-stsb-loader": Case(THREE, SCORES, "look -c p=p.parquet,loader=pairs"),
    "pairs-qqp": Case("first=, second=.* score=", QQP, "look -c p=qqp.csv", code=2),
    "pairs-qqp-named": Case(
        "first=, second= and score= for pairs",
        QQP,
        "look -c p=qqp.csv,first=question1,second=question2,label=is_duplicate",
        code=2,
    ),
    "pairs-surrogate": Case(
        "must be a valid string, unable to parse raw data as a unicode string",
        {"s.jsonl": '{"sentence1": "a \\ud83d b", "sentence2": "c", "score": 1}\n'},
        "look -c p=s.jsonl",
        code=2,
    ),
    "pairs-triplets": Case(
        "unrecognised format .*anchor.*positive.*negative.* known forms",
        {"t.jsonl": '{"anchor": "a b c", "positive": "a b d", "negative": "x y z"}\n'},
        "look -c p=t.jsonl",
        code=2,
    ),
}


def squad(context, *entries, **of_paragraph):
    """Return the list of articles of a SQuAD file with one paragraph."""
    return [{"title": "T", "paragraphs": [{"context": context, "qas": list(entries), **of_paragraph}]}]


def entry(question, answer, start, **others):
    """Return a question of SQuAD."""
    return {"id": question, "question": question, "answers": [{"text": answer, "answer_start": start}], **others}


def file(content):
    """Return the file of SQuAD."""
    return {"squad.json": json.dumps(content, ensure_ascii=False)}


LOOK = "look -c s=squad.json"
KETTLE = "The kettle boils in two minutes. The boots are dry."
MINUTES = entry("How fast?", "two minutes", 20)
NOBODY = {"id": 4, "question": "Who?", "answers": [], "is_impossible": True}

SQUAD = {
    # Offsets in UTF-16 or bytes: "nine" occurs once, "six" does not.
    "squad-byte-offsets": Case(
        ("3 documents, 1 question", "1 question left out"),
        file(
            {
                "data": squad(
                    "Café 😀 opens at six. It closes at nine. It opens at six.",
                    entry("When?", "nine", 38),
                    entry("Or?", "six", 22),
                )
            }
        ),
        LOOK,
    ),
    # An annotation tool writes integers as ids, and more fields.
    "squad-haystack-flat": Case(
        f"{TWO}, 1 of them not answered",
        file({"data": squad(KETTLE, MINUTES | {"id": 3, "is_impossible": False}, NOBODY, document_id=12)}),
        LOOK,
    ),
    "squad-impossible-string": Case(
        r"field 'data\.0\.paragraphs\.0\.qas\.0\.is_impossible'",
        file({"data": squad(KETTLE, MINUTES | {"is_impossible": "false"})}),
        LOOK,
        code=2,
    ),
    "squad-no-version-top-list": Case("1 question|'data'", file(squad(KETTLE, MINUTES)), LOOK, code=(0, 2)),
}


@each(BEIR | QUESTIONS | PARQUET | PAIRS | SQUAD)
def test_table(case, capsys):
    case.check(capsys)
