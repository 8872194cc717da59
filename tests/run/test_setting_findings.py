"""What a run that varies settings says about them, and the table of their prices."""

from dataclasses import replace

import pytest
from embassay.findings.settings import setting_findings

from embassay.findings.limits import findings_of
from embassay.formatting import written_bytes
from embassay.layout import Column, EncoderTable, Layout
from embassay.reports.settings import setting_tables
from embassay.result import CorpusRecord, Difference, EncoderRecord, Opponent, Result, Row, Verdict
from verdicts import opponents

HEADLINE = Column("Success@5", "Success@5", format="percent")


def record(setting, vectors=100, vector_bytes=1536, name="m"):
    return EncoderRecord(
        name=f"{name},{setting}" if setting else name, spec=f"st:{name}", fingerprint=name, revision="", dim=384,
        parameters=1, prompts={}, baseline=False, setting=setting, vectors={"docs": vectors},
        vector_bytes=vector_bytes,
    )  # fmt: skip


def gap(difference, p, detectable=0.031):
    return {
        "difference": difference, "low": difference - 0.02, "high": difference + 0.02, "p": p,
        "smallest_difference": detectable,
    }  # fmt: skip


def result_of(records, gaps, **changes):
    """Return a result whose reference is the first encoder."""
    names = tuple(each.name for each in records)
    rows = tuple(
        Row("retrieval", "docs", name, "all", "cosine", "", "Success@5", 0.8, 0.7, 0.9, 100, 100, 0, None, "s")
        for name in names
    )
    verdict = Verdict(
        "retrieval", "docs", "Success@5", items=100, units=100, subset="all", similarity_function="cosine",
        candidates=names,
        opponents=opponents(reference=(names[0], dict(zip(names[1:], gaps, strict=True)))), best_set=names[:1],
    )  # fmt: skip
    corpus = CorpusRecord("docs", "retrieval", "f", 100, 100, 100.0, 0, 200, "", "", builtin=False, documents=50)
    return Result(
        0, 100, encoders=tuple(records), corpora=(replace(corpus, **changes),), rows=rows, verdicts=(verdict,)
    )


def finding_of(*arguments):
    result = result_of(*arguments)
    findings = list(setting_findings(result, result.verdicts[0], HEADLINE))
    return findings[0].sentence if findings else ""


def test_a_difference_is_stated_with_its_price():
    sentence = finding_of([record("passages=paragraph"), record("passages=100", 210)], [gap(0.024, 0.01)])
    assert sentence == (
        "passages=100: Success@5 2.4 points higher than m,passages=paragraph [+0.4, +4.4], p (Holm) 0.010, "
        "with 2.1 times the bytes."
    )
    sentence = finding_of([record("dim=384"), record("dim=64", vector_bytes=256)], [gap(-0.024, 0.01)])
    assert sentence.endswith("2.4 points lower than m,dim=384 [−4.4, −0.4], p (Holm) 0.010, with 0.17 times the bytes.")
    sentence = finding_of([record("query_prompt="), record("query_prompt=q: ")], [gap(0.024, 0.01)])
    assert sentence.endswith("p (Holm) 0.010.")


@pytest.mark.parametrize(("p", "standing"), [(0.01, "shown"), (0.4, "not shown")])
def test_the_answer_is_shown_only_where_a_setting_differs(p, standing):
    result = result_of([record("dim=384"), record("dim=64", vector_bytes=256)], [gap(-0.024, p)])
    (answer,) = setting_findings(result, result.verdicts[0], HEADLINE)
    assert (answer.question, answer.standing) == ("Settings", standing)


def test_no_difference_is_shown_up_to_the_least_precise_one():
    records = [record("passages=paragraph"), record("passages=100", 210), record("passages=200", 90)]
    assert finding_of(records, [gap(0.024, 0.4), gap(-0.01, 1.0, 0.045)]) == (
        "2 settings are not shown to differ from m,passages=paragraph; the minimum detectable difference is 4.5 points."
    )
    same_price = [record("max_length=64"), record("max_length=128")]
    assert finding_of(same_price, [gap(0.024, 0.4)]) == (
        "max_length=128 is not shown to differ from m,max_length=64; the minimum detectable difference is 3.1 points."
    )


def test_where_hardly_an_item_differs_no_detectable_difference_is_said():
    few = {**gap(-0.01, 1.0, 0.2), "won": 1, "tied": 97, "lost": 2}
    result = result_of([record("dim=384"), record("dim=64")], [few])
    verdicts = (result.verdicts[0], replace(result.verdicts[0], units=50))
    assert [next(setting_findings(result, verdict, HEADLINE)).sentence for verdict in verdicts] == [
        "dim=64 is not shown to differ from m,dim=384; the minimum detectable difference is 20.0 points.",
        "dim=64 is not shown to differ from m,dim=384.",
    ]


def test_the_largest_differences_come_first_and_the_others_are_counted():
    records = [record(f"dim={dim}") for dim in (8, 16, 32, 64, 128)]
    sentence = finding_of(records, [gap(0.01 * place, 0.01) for place in (1, 2, 3, 4)])
    assert sentence.startswith("dim=128: Success@5 4.0 points higher")
    assert sentence.endswith(" 1 more setting shown to differ from m,dim=8.")


@pytest.mark.parametrize(
    ("not_worse", "recommended"),
    [
        (("m,dim=256", "m,dim=128"), "dim=128 is shown not to be worse than m,dim=384 by 2.0 points or more, with 33%"),
        # In the order of sizes the first that fails ends it: 128 was not tested then.
        (("m,dim=128",), ""),
        (("m,dim=256",), "dim=256 is shown not to be worse than m,dim=384 by 2.0 points or more, with 67%"),
    ],
)
def test_the_smallest_setting_that_is_not_worse_is_recommended_with_its_saving(not_worse, recommended):
    records = [record("dim=384"), record("dim=256", vector_bytes=1024), record("dim=128", vector_bytes=512)]
    result = result_of([*records, record("dim=384", name="n")], [gap(0.001, 0.9)] * 3)
    verdict = replace(
        result.verdicts[0], best="n,dim=384", best_set=("n,dim=384",), margin=0.02, not_worse_than_reference=not_worse
    )
    (finding,) = setting_findings(result, verdict, HEADLINE)
    assert recommended in finding.sentence
    assert ("not to be worse" in finding.sentence) is bool(recommended)
    # Where the reference is the best, the finding on smaller indexes says it.
    (finding,) = setting_findings(result, replace(verdict, best="m,dim=384"), HEADLINE)
    assert "not to be worse" not in finding.sentence


def test_other_encoders_and_too_few_units_are_no_settings():
    assert finding_of([record("dim=8"), record("dim=8", name="n")], [gap(0.1, 0.01)]) == ""
    assert finding_of([record(""), record("", name="n")], [gap(0.1, 0.01)]) == ""
    assert finding_of([record("dim=8"), record("dim=16")], [gap(0.1, None)]) == ""


@pytest.mark.parametrize("builtin", [False, True])
def test_settings_come_after_the_best_set_but_not_on_built_in_corpora(builtin):
    records = [record("dim=8"), record("dim=16", vector_bytes=64)]
    result = result_of(records, [gap(0.1, 0.01)], builtin=builtin)
    titles = [finding.title for finding in findings_of(result, {"retrieval": HEADLINE})]
    assert ("Settings" in titles) is not builtin
    if not builtin:
        assert titles[:3] == ["May be the best", "Cost", "Settings"]


def test_settings_of_a_model_that_is_not_among_the_best_come_later():
    records = [record("dim=8"), record("dim=16"), record("dim=8", name="better")]
    result = result_of(records, [gap(0.1, 0.01), gap(0.3, 0.01)])
    verdict = replace(result.verdicts[0], best_set=("better,dim=8",))
    findings = findings_of(replace(result, verdicts=(verdict,)), {"retrieval": HEADLINE})
    assert [finding.severity for finding in findings if finding.title == "Settings"] == ["medium"]


def test_the_table_has_a_row_for_each_setting_with_its_price():
    records = [record("passages=paragraph"), record("passages=100", 210)]
    result = result_of(records, [gap(0.024, 0.01)])
    layouts = {"retrieval": Layout("Retrieval", "?", EncoderTable("", (HEADLINE,)), (), "")}
    (table,) = setting_tables(result, layouts, {})
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["m,passages=paragraph", "80.0%", "–", "–", "–", "yes", "100", "153.6 kB"],
        ["m,passages=100", "80.0%", "m,passages=paragraph", "+2.4 points", "0.010", "no", "210", "322.6 kB"],
    ]
    assert not list(setting_tables(result_of([record(""), record("", name="n")], [gap(0, 1)]), layouts, {}))


def test_steps_stand_in_the_order_of_deciding_beside_what_they_are_built_on():
    of_step = {"setting": "depth=10", "vector_bytes": None}
    steps = [replace(record("", name=step), step=step, **of_step) for step in ("index", "reranker", "fusion")]
    result = result_of([record(""), *steps], [gap(0, 1)] * 3)
    parts = [Opponent("part", "m", (Difference(step, 0.01, 0.005, 0.015, 0.02),)) for step in ("reranker", "fusion")]
    verdict = replace(result.verdicts[0], opponents=(*result.verdicts[0].opponents, *parts))
    layouts = {"retrieval": Layout("Retrieval", "?", EncoderTable("", (HEADLINE,)), (), "")}
    latency = {("reranker", verdict.corpus): 12.3456, ("m", verdict.corpus): 1.0}
    (table,) = setting_tables(replace(result, verdicts=(verdict,)), layouts, latency)
    assert table.head[2:] == ("compared with", "difference", "p (Holm)", "may be best", "ms a question")
    assert [[row[0].text, *(cell.text for cell in row[2:])] for row in table.rows] == [
        ["m", "–", "–", "–", "yes", "1.0"],
        ["fusion", "m", "+1.0 points", "0.020", "no", "–"],
        ["reranker", "m", "+1.0 points", "0.020", "no", "12"],
        ["index", "", "–", "–", "no", "–"],
    ]


def test_bytes_are_written_with_their_unit():
    assert [written_bytes(size) for size in (0, 999, 1000, 1_236_480, 5 * 10**9, 10**13)] == [
        "0 bytes",
        "999 bytes",
        "1.0 kB",
        "1.2 MB",
        "5.0 GB",
        "10,000.0 GB",
    ]
