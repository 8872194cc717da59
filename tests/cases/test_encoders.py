"""Lexical baselines, stored vectors, word vectors and ranked lists, over twelve documents."""

import io
import json
import re
import struct

import numpy as np
import polars as pl

from cases.case import CORPUS, RUN, TEXTS, Case, each, lines, searched

ALL_RIGHT = r"\be 100\.0%"
ALL_TIED = r"\be 8\.3%"

HINDI = {f"{word} कहाँ": f"यह {word} है" for word in "काल कील कोल कुल कला केला काला कूल किला कौल कैल कली".split()}
# The zero-width non-joiner is part of words.
VERBS = "می‌روم کتاب‌ها نمی‌دانم خانه‌ای آمده‌اند می‌آید کار‌ها می‌خورم نمی‌آید دست‌ها"
PERSIAN = {word: f"این {word} است." for word in VERBS.split()}
COMPOSED = {
    "cafe\u0301": "café",
    "nai\u0308vete\u0301": "naïveté",
    "pin\u0303ata": "piñata",
    "u\u0308berzug": "überzug",
    "cre\u0300me": "crème",
    "fac\u0327ade": "façade",
    "ro\u0308sti": "rösti",
    "a\u030angstro\u0308m": "ångström",
    "\u00d8re": "Øre",
    "de\u0301ja\u0300": "déjà",
}
CHINESE = {
    "水壶多久把水烧开": "水壶在两分钟内把水烧开",
    "什么让双脚干燥": "橡胶靴在雨天保持双脚干燥",
    "没有钟表怎么知道时间": "日晷不用钟表就能显示时间",
    "图书馆几点关门": "图书馆每天晚上九点关门",
    "新桥连接什么": "新桥连接了两座山之间的村庄",
    "蜂蜜能保存多久": "蜂蜜可以保存很多年不变质",
    "火车从哪里出发": "火车从东站出发开往海边",
    "医生建议什么": "医生建议每天步行半小时",
    "面包店什么时候营业": "这家面包店只在周末营业",
    "哪里可以滑冰": "冬天湖面结冰可以滑冰",
    "博物馆哪天不开放": "博物馆周一不开放参观",
    "苹果树几月开花": "苹果树在四月份开花",
}


def one_hot(words):
    """Return the vector of each word, of which one number is 1."""
    return dict(zip(words, np.eye(len(words)), strict=True))


def text_file(words, separator=" ", end="\n", after_word=None, header=""):
    """Return word vectors as text."""
    rows = []
    for word, vector in one_hot(words).items():
        numbers = separator.join(f"{number:.1f}" for number in vector)
        rows.append(word + (after_word or separator) + numbers + end)
    return header + "".join(rows)


HINDI_WORDS = [*(word.split()[0] for word in HINDI), "यह", "है", "कहाँ"]
SCRIPTS = {
    "chinese-bm25": Case(r"\be (100|9\d|8\d)\.\d%", searched(CHINESE), f"{RUN} -e e=bm25"),
    "hindi-bm25": Case(ALL_RIGHT, searched(HINDI), f"{RUN} -e e=bm25"),
    "hindi-words": Case(
        ALL_RIGHT, searched(HINDI) | {"vec.txt": text_file(HINDI_WORDS)}, f"{RUN} -e e=words:vec.txt", hides="Unknown"
    ),
    # The questions are decomposed, the documents are not.
    "nfd-text-bm25": Case(
        (ALL_RIGHT, r"tfidf 100\.0%"),
        searched({f"What about {asked}?": f"The entry concerns {word} only." for asked, word in COMPOSED.items()}),
        f"{RUN} -e e=bm25 -e tfidf",
        hides="Undefined",
    ),
    "zwj-zwnj-bm25": Case(ALL_RIGHT, searched(PERSIAN), f"{RUN} -e e=bm25"),
}

WITH_VECTORS = [*TEXTS.values(), *TEXTS]
VECTORS = np.tile(np.eye(12), (2, 1))
"""Those of a question and its document are equal."""


def vectors(shows, code, content, name="v.npz"):
    """Return the case of a file that has texts and their vectors."""
    return Case(shows, CORPUS | {name: content}, f"{RUN} -e e=vectors:{name}", code=code)


def arrays(vectors, texts=WITH_VECTORS):
    """Return the arrays of an .npz file."""
    return {"vectors": vectors, "texts": np.array(texts)}


def with_texts(shows, code, content, ids, name="v.npz"):
    """Return the case of a file of vectors, beside a table of the texts and their ids."""
    rows = zip(ids, WITH_VECTORS, strict=True)
    table = "id,text\n" + "".join(f'{of_text},"{text}"\n' for of_text, text in rows)
    files = CORPUS | {name: content, "t.csv": table}
    return Case(shows, files, f"{RUN} -e e=vectors:{name},texts=t.csv", code=code)


def compressed(content):
    """Return an .npz file as numpy.savez_compressed writes it."""
    file = io.BytesIO()
    np.savez_compressed(file, **content)
    return file.getvalue()


def table(embedding, **first):
    """Return a Parquet table of texts and vectors."""
    return pl.DataFrame({**(first or {"text": WITH_VECTORS}), "embedding": embedding})


NAN = VECTORS.copy()
NAN[6, 2] = np.nan
LISTS = VECTORS.tolist()
BATCH = [
    {"id": f"batch_{n}", "custom_id": str(n), "response": {"body": {"data": [{"embedding": row}]}}, "error": None}
    for n, row in enumerate(LISTS)
]
"""What OpenAI's batch service writes."""
STORED = {
    "vec-3d": vectors("a vector is a list of numbers", 3, arrays(VECTORS[:, None, :])),
    "vec-bigendian": vectors(ALL_RIGHT, 0, arrays(VECTORS.astype(">f4"))),
    "vec-complex": vectors("must be real numbers, not complex ones", 2, arrays(VECTORS.astype("complex64"))),
    "vec-float16": vectors(ALL_RIGHT, 0, arrays(VECTORS.astype("float16"))),
    "vec-compressed": vectors(ALL_RIGHT, 0, compressed(arrays(VECTORS))),
    "vec-float-ids": with_texts(
        "ids such as '0.0', the table '0'", 3, {"vectors": VECTORS, "ids": np.arange(24.0)}, range(24)
    ),
    "vec-ids": with_texts(
        ALL_RIGHT, 0, {"vectors": VECTORS, "ids": np.array([f"t{n}" for n in range(24)])}, [f"t{n}" for n in range(24)]
    ),
    # 7 is not 007, which the message has to show.
    "vec-int-ids-padded": with_texts(
        r"ids such as '0', the table '0", 3, {"vectors": VECTORS, "ids": np.arange(24)}, [f"{n:03}" for n in range(24)]
    ),
    "vec-jsonl-nested": vectors(
        r"v\.jsonl: a vector is a list of numbers",
        3,
        lines({"text": text, "embedding": [row]} for text, row in zip(WITH_VECTORS, LISTS, strict=True)),
        "v.jsonl",
    ),
    "vec-jsonl-openai-batch": vectors("has vectors, but no texts; set texts=", 2, lines(BATCH), "v.jsonl"),
    "vec-jsonl-openai-batch with its texts": with_texts(ALL_RIGHT, 0, lines(BATCH), range(24), "v.jsonl"),
    "vec-missing": vectors("'zebra crossing painted'", 3, arrays(VECTORS[:-1], WITH_VECTORS[:-1])),
    "vec-nan": vectors("the vector of 'The train .*' has NaN", 3, arrays(NAN)),
    "vec-object-texts": vectors(
        "save texts with dtype=str", 2, {"vectors": VECTORS, "texts": np.array(WITH_VECTORS, object)}
    ),
    "vec-object-vectors": vectors("vectors with dtype=float32", 2, arrays(VECTORS.astype(object))),
    "vec-pa-f16": with_texts(
        ALL_RIGHT, 0, table(pl.Series(LISTS, dtype=pl.Array(pl.Float16, 12)), id=range(24)), range(24), "v.parquet"
    ),
    "vec-pa-intid": with_texts(ALL_RIGHT, 0, table(LISTS, id=range(24)), range(24), "v.parquet"),
    "vec-pq-array": vectors(ALL_RIGHT, 0, table(VECTORS.astype("float32")), "v.parquet"),
    "vec-pq-f16": vectors(ALL_RIGHT, 0, table(pl.Series(LISTS, dtype=pl.List(pl.Float16))), "v.parquet"),
    "vec-pq-null": vectors(
        "the vector of 'The new bridge .*' has .* too few numbers",
        3,
        table([*LISTS[:4], None, *LISTS[5:]]),
        "v.parquet",
    ),
    "vec-pq-string": vectors("a vector is a list of numbers", 3, table(map(str, LISTS)), "v.parquet"),
    "vec-transposed": vectors(r"\(24\) does not match height of column 'vectors' \(12\)", 2, arrays(VECTORS.T)),
    # Bits in bytes are taken as numbers.
    "vec-uint8-binary": vectors(r"\be \d+\.\d%", 0, arrays(np.packbits(VECTORS.astype(bool), axis=1))),
}

VOCABULARY = sorted(set(re.findall(r"\w+", " ".join(WITH_VECTORS).lower())))
SIZE = len(VOCABULARY)


def words(content, shows=(ALL_RIGHT,), code=0, hides=(), name="vec.txt"):
    """Return the case of a file of word vectors."""
    return Case(shows, CORPUS | {name: content}, f"{RUN} -e e=words:{name}", hides, code)


def binary(count, end=b"\n", dtype="float32"):
    """Return word vectors as word2vec writes them, with the number of words that its header has."""
    rows = [word.encode() + b" " + row.astype(dtype).tobytes() + end for word, row in one_hot(VOCABULARY).items()]
    return f"{count} {SIZE}\n".encode() + b"".join(rows)


ALL_READ = {"hides": "Unknown"}
SPACES = "separated by spaces"
WORDS = {
    "words-bin-float16": words(binary(SIZE, dtype="float16"), "finite numbers", 3, name="vec.bin"),
    "words-bin-gensim": words(binary(SIZE, end=b""), **ALL_READ, name="vec.bin"),
    "words-bin-too-few": words(binary(SIZE - 2), "the file has more", 3, name="vec.bin"),
    "words-bin-too-many": words(binary(SIZE + 2), f"word {SIZE + 1} .* finite numbers", 3, name="vec.bin"),
    "words-csv": words(text_file(VOCABULARY, ","), SPACES, 2),
    "words-double-spaces": words(text_file(VOCABULARY, "  "), **ALL_READ),
    "words-fasttext-bin": words(struct.pack("<102i", 793712314, 12, *[0] * 100), r"\.vec\b", 2, name="model.bin"),
    "words-glove-dim-word-number": words(text_file(["4 7", *VOCABULARY]), **ALL_READ),
    "words-header-3-numbers": words(text_file(VOCABULARY, header=f"{SIZE} {SIZE} 1\n"), rf"'{SIZE} {SIZE} 1'", 2),
    "words-header-too-few": words(
        text_file(VOCABULARY, header=f"{SIZE - 3} {SIZE}\n"), f"gives {SIZE - 3} words, but the file has {SIZE}", 3
    ),
    "words-nbsp-word": words(text_file(["new\u00a0york", *VOCABULARY]), **ALL_READ),
    "words-nfd": words(text_file(["cafe\u0301", *VOCABULARY]), **ALL_READ),
    "words-numberbatch-keys": words(
        text_file([f"/c/en/{word}" for word in VOCABULARY]), r"does not know 100\.0% of the words"
    ),
    "words-plain": words(text_file(VOCABULARY), **ALL_READ),
    "words-tabs": words(text_file(VOCABULARY, "\t"), **ALL_READ),
    # As in fastText's .vec files.
    "words-trailing-space": words(text_file(VOCABULARY, end=" \n", header=f"{SIZE} {SIZE}\n"), **ALL_READ),
    "words-upper": words(text_file([word.upper() for word in VOCABULARY]), r"does not know \d+\.\d% of the words"),
    "words-word-tab-numbers": words(text_file(VOCABULARY, after_word="\t"), **ALL_READ),
}


def trec(score, name="x", first=0):
    """Return a run that lists the right document first; a score follows from the place in the list, from 0."""
    rows = []
    for question in range(first, 12):
        listed = [question, *(document for document in range(12) if document != question)]
        for place, document in enumerate(listed):
            rows.append(f"{question} Q0 d{document} {place + 1} {score(place)} {name}\n")
    return "".join(rows)


def ranked(run, shows=ALL_RIGHT, code=0, more=""):
    """Return the case of a file of ranked lists."""
    return Case(shows, CORPUS | {"run.trec": run}, f"{RUN} -e e=run:run.trec {more}", code=code)


PLAIN = trec(lambda place: 12 - place)
RUNS = {
    "run-1e308": ranked(trec(lambda place: (1.7 - place / 1000) * 1e308)),
    "run-all-equal": ranked(trec(lambda place: 1.0), ALL_TIED),
    "run-comma-decimal": ranked(PLAIN.replace(" x", ",5 x"), "line 1: must be .* with a finite score", 2),
    "run-dup-doc": ranked(PLAIN.replace("0 Q0 d1 ", "0 Q0 d0 "), "line 2: 'd0' is listed twice", 2),
    "run-epoch": ranked(trec(lambda place: f"{1.7e9 - place / 1e6:.6f}")),
    "run-huge-close": ranked(trec(lambda place: f"{1e15 + (12 - place) / 8:.3f}")),
    "run-missing-questions": ranked(
        trec(lambda place: 12 - place, first=2), (r"\be 83\.3%", "e: 2 questions of m without a list count as missed")
    ),
    "run-neg-logprob": ranked(trec(lambda place: f"{-1e6 - place / 1e9:.9f}")),
    "run-plain": ranked(PLAIN),
    "run-ranx-json": ranked(json.dumps({"0": {"d0": 12.0, "d1": 11.0}}), "line 1: must be question, Q0, document", 2),
    "run-scores-inf": ranked(PLAIN.replace(" 12 x", " inf x"), "line 1: must be .* with a finite score", 2),
    "run-tag-with-space": ranked(PLAIN.replace("x", "my run"), "line 1: must be .* my run", 2),
    "run-tiny": ranked(trec(lambda place: (12 - place) * 1e-320)),
    # Typesense's scores are near 2 to the power of 59, where doubles have steps of 128.
    "run-typesense-beside-bm25": ranked(
        trec(lambda place: 578730123365712768 - 64 * place), r"\bbm25 \d+\.\d%", more="-e bm25"
    ),
}


@each(SCRIPTS | STORED | WORDS | RUNS)
def test_encoder(case, capsys):
    case.check(capsys)
