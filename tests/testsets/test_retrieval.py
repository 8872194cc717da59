"""Questions about documents: what is asked, what answers it, what is left out, and that the set can be assayed."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import embassay as ea
from embassay.core.errors import SpecError
from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.queries.leaks import ANSWER, REPEATS, leak, shared_runs
from embassay.corpora.queries.passages import Passage, near_duplicates, passages_of, tokens
from embassay.corpora.queries.sampling import evenly
from embassay.testsets.base import Resource, silent
from embassay.testsets.generator.base import Reply, filled
from embassay.testsets.generator.questions import PROMPT, question_in
from embassay.testsets.kinds import retrieval
from embassay.testsets.questions import quote_of
from embassay.testsets.splits import drawn_units, overlap

pytestmark = pytest.mark.usefixtures("single_paragraphs")
PARTS = (
    ("dryer", "A lint filter is a screen that catches fibres in the air of a dryer."),
    ("dryer2", "A heat pump dryer is a machine that dries with the warmth of its own air."),
    ("washer", "A drain hose is a flexible pipe that carries used water to the wall."),
    ("maker", "The Velmo Works were founded in Aarhus in 1931 by two brothers from Norrby."),
    ("oven", "A steam oven is an appliance that cooks with hot vapour instead of dry air."),
    ("hob", "An induction hob is a plate that heats pans with a changing magnetic field."),
    ("kettle", "A limescale filter is a fine mesh that keeps flakes out of the cup."),
    ("fridge", "A crisper drawer is a box in which vegetables stay moist for longer."),
    ("hood", "A grease trap is a metal grid that holds back fat above the cooker."),
    ("mixer", "A dough hook is a bent arm that kneads bread in a bowl for you."),
)
QUESTIONS = {
    "dryer": ("Which screen does a dryer have?", "lint filter"),
    "dryer2": ("Which machine dries with its own warmth?", "heat pump dryer"),
    "washer": ("Which pipe leads to the wall?", "drain hose"),
    "maker": ("In what year did the Velmo Works start?", "1931"),
    "oven": ("Which appliance cooks with vapour?", "steam oven"),
    "hob": ("Which plate heats pans?", "induction hob"),
    "kettle": ("What keeps flakes out?", "limescale filter"),
    "fridge": ("Where are vegetables kept moist?", "crisper drawer"),
    "hood": ("Which grid holds fat?", "grease trap"),
    "mixer": ("Which arm kneads bread?", "dough hook"),
}


def documents(parts=PARTS):
    return [SourceDocument(name, text) for name, text in parts]


def splits_of(built):
    return {name: fields["split"] for name, fields in built.fields.items()}


def told(built):
    return {sample.question: sample.right for sample in built.samples}


class Stub:
    """A generator that answers each passage, by its text, as it is told."""

    name = "stub-1 at example.org"

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def replies(self, prompts, advance=silent):
        passages = [prompt.partition("Passage:\n")[2].strip() for prompt in prompts]
        self.asked += passages
        found = [self.answer(passage) for passage in passages]
        return [answer if isinstance(answer, Reply) else Reply(answer) for answer in found]

    def material(self):
        return Resource("stub", "1", "MIT", "questions")

    def notes(self):
        return (f"{len(self.asked)} requests",)


def answer_of(question, answer):
    return json.dumps({"question": question, "answer": answer})


def asker(questions=QUESTIONS):
    """Return a generator that asks the question of each of the documents above, and of passages with a given text."""
    asked = {text: questions[name] for name, text in PARTS if name in questions} | questions
    return Stub(lambda passage: next((answer_of(*asked[text]) for text in asked if text in passage), ""))


def build(sources, questions=QUESTIONS, **options):
    return retrieval.build(sources, generator=asker(questions), **options)


PASSAGE = Passage("p", "The eco programme of this washer heats the water to 40 degrees and takes three hours.", "u")
GOOD = answer_of("How warm does the water get in a saving programme?", "40 degrees")


def taken(text, passage=PASSAGE, share=0.6):
    question = question_in(text, passage, "g", share)
    return ([], question) if isinstance(question, str) else ([question.text], "")


def test_a_question_has_its_passage_and_its_answer():
    built = build(documents(), unanswerable=0, test=0)
    assert told(built) == {QUESTIONS[name][0]: (name,) for name, _ in PARTS}
    assert built.fields["dryer-q"] == {
        "split": "train",
        "source": "generator: stub-1 at example.org",
        "answer": "lint filter",
    }
    assert len(built.samples) == len(PARTS)
    assert built.shape == "retrieval"
    for sample in built.samples:
        (text,) = next(d for d in built.documents if d.id == sample.right[0]).passages
        assert built.fields[sample.id]["answer"] in text


def test_every_passage_is_a_document_and_headings_stand_with_the_first_under_them():
    text = (
        "# Drums\n\nA drum turns.\n\n## Cleaning the drum\n\nRun it hot once a month with the door shut for an hour.\n"
    )
    found = passages_of([SourceDocument("a#1", text), SourceDocument("b", "One line.")], "paragraph")
    assert [(p.id, p.headings, p.long) for p in found] == [
        ("a#1##1", ("Drums",), False),
        ("a#1##2", ("Cleaning the drum",), True),
        ("b", (), False),
    ]
    assert found[1].text.startswith("Cleaning the drum\nRun it hot")
    sources = [SourceDocument("a", text), SourceDocument("b", "One line.")]
    built = build(sources, {"Run it hot": ("How often is a drum cleaned?", "once a month")}, unanswerable=0)
    assert told(built) == {"How often is a drum cleaned?": ("a#2",)}
    assert built.rejected["a passage of fewer than 8 words"] == 2
    assert [document.id for document in built.documents] == ["a#1", "a#2", "b"]


def test_a_hash_in_a_fence_is_no_heading():
    found = passages_of([SourceDocument("a", "# Real\n\n```\n# a comment\n```\n\nText.")], "paragraph")
    assert [(p.headings, p.body) for p in found] == [(("Real",), "``` # a comment ```"), ((), "Text.")]


def test_a_title_stands_before_its_document():
    assert [p.text for p in passages_of([SourceDocument("a", "Text.", "Fans")], "document")] == ["Fans\nText."]


def test_the_passages_of_one_document_are_units_of_their_own():
    text = "\n\n".join(text for _, text in PARTS)
    units = {p.unit for p in passages_of([SourceDocument("manual", text)], "paragraph")}
    assert len(units) == len(PARTS)
    assert {p.unit for p in passages_of([SourceDocument("manual", text)], "20")} == {"manual"}


def test_where_windows_overlap_both_answer():
    words = "A lint filter is a screen that catches fibres. " + "Wipe the door with a cloth each week. " * 6
    windows = [p.body for p in passages_of([SourceDocument("a", words)], "20")]
    shared = windows[0].split()[-2:]
    assert windows[1].split()[:2] == shared
    stub = Stub(
        lambda p: answer_of("Which thing is wiped once in seven days?", " ".join(shared)) if p == windows[0] else ""
    )
    built = retrieval.build([SourceDocument("a", words)], generator=stub, passages="20", unanswerable=0)
    assert built.samples[0].right == ("a#1", "a#2")


def test_near_duplicates_answer_too_where_they_have_the_answer():
    copy = ("copy", PARTS[0][1].replace("dryer.", "dryer!"))
    other = ("other", "In a sauna " + PARTS[3][1].replace("1931", "1932"))
    built = build(documents((*PARTS, copy, other)), unanswerable=0)
    assert told(built)["Which screen does a dryer have?"] == ("dryer", "copy")
    assert told(built)["In what year did the Velmo Works start?"] == ("maker",)
    assert built.rejected["a near-duplicate of another passage"] >= 1


def test_units_that_are_taken_away_leave_questions_without_an_answer():
    built = build(documents(), unanswerable=0.3, seed=5)
    gone = [sample for sample in built.samples if not sample.right]
    assert len(gone) == 3
    left = {document.id for document in built.documents}
    assert not left & {sample.unit for sample in gone}
    assert len(left) == len(PARTS) - 3
    assert not any("answer" in built.fields[sample.id] for sample in gone)
    assert any("the passages of 3 units were removed" in note for note in built.notes)


def test_nothing_that_is_left_answers_what_was_taken_away():
    copies = [(f"{name}-copy", text) for name, text in PARTS[:5]]
    for seed in range(8):
        built = build(documents((*PARTS, *copies)), unanswerable=0.4, seed=seed)
        texts = [text for document in built.documents for text in document.passages]
        for sample in built.samples:
            if not sample.right:
                name = sample.id.removesuffix("-q")
                assert dict(PARTS)[name] not in texts


def test_no_context_is_in_two_splits():
    copies = [(f"{name}-copy", text) for name, text in PARTS[:5]]
    for seed in range(8):
        built = build(documents((*PARTS, *copies)), test=0.4, seed=seed)
        split_of = splits_of(built)
        assert set(split_of.values()) == {"train", "test"}
        of = {split: [s for s in built.samples if split_of[s.id] == split] for split in ("train", "test")}
        for what in ("unit", "right"):
            train, test = (
                {key for s in of[split] for key in ([s.unit] if what == "unit" else s.right)} for split in of
            )
            assert not train & test


@pytest.mark.parametrize(("test", "splits"), [(1, {"test"}), (0, {"train"}), (0.01, {"train", "test"})])
def test_the_split_takes_a_share_of_the_units(test, splits):
    built = build(documents(), test=test, unanswerable=0)
    assert set(splits_of(built).values()) == splits
    if test == 0.01:
        assert Counter(splits_of(built).values())["test"] == 1


def test_the_same_seed_gives_the_same_set_and_another_gives_another():
    first, again, other = (build(documents(), count=5, seed=seed) for seed in (1, 1, 2))
    assert (first.samples, first.documents, first.fields) == (again.samples, again.documents, again.fields)
    assert first.samples != other.samples
    assert len(first.samples) == len(other.samples) == 5


def test_questions_are_drawn_evenly_over_units():
    units = "a" * 20 + "bbc"
    for seed in range(5):
        drawn = evenly(range(23), units.__getitem__, 6, seed, "test")
        assert drawn == sorted(drawn)
        assert Counter(units[n] for n in drawn) == {"a": 3, "b": 2, "c": 1}
    assert evenly(range(23), units.__getitem__, None, 0, "test") == list(range(23))


def test_a_share_of_units_is_drawn():
    units = [f"u{n}" for n in range(10)]
    assert len(drawn_units(units, 0.25, 0, "x")) == 2
    assert (
        drawn_units(units, 0.5, 0, "x") == drawn_units(units[::-1] * 2, 0.5, 0, "x") != drawn_units(units, 0.5, 0, "y")
    )
    assert drawn_units(["u"], 0.9, 0, "x") == frozenset()
    assert drawn_units(["u"], 1, 0, "x") == {"u"}
    assert len(drawn_units(units, 0.01, 0, "x", least=1)) == 1
    assert len(drawn_units(units, 0.99, 0, "x")) == 9


def test_a_generator_asks():
    def answer(passage):
        name = NAMES[passage]
        return f"Sure!\n```json\n{answer_of(f'Which of our {name} notes speaks of it, and how?', PARTS_OF[name])}\n```"

    stub = Stub(answer)
    built = retrieval.build(documents(), generator=stub, unanswerable=0)
    assert told(built)["Which of our oven notes speaks of it, and how?"] == ("oven",)
    assert built.fields["oven-q"]["source"] == "generator: stub-1 at example.org"
    assert built.materials == (stub.material(),)
    assert built.notes[-1] == "10 requests"
    assert built.prompt == PROMPT
    assert stub.asked == [text for _, text in PARTS]


NAMES = {text: name for name, text in PARTS}
PARTS_OF = {name: " ".join(text.split()[-3:]) for name, text in PARTS}


def test_what_a_generator_could_not_do_is_counted():
    stub = Stub(lambda p: Reply(problem="the generator refused") if NAMES[p] == "oven" else "no JSON")
    built = retrieval.build(documents(), generator=stub)
    assert built.samples == ()
    assert +built.rejected == {"the generator refused": 1, "an answer without JSON of question and answer": 9}


def asked_about(sources, **options):
    """Return the passages that a build asks about."""
    stub = Stub(lambda passage: "no JSON")
    retrieval.build(sources, generator=stub, **options)
    return stub.asked


def test_a_generator_is_asked_for_a_little_more_than_is_wanted():
    assert len(asked_about(documents(), count=4)) == 6
    assert len(asked_about(documents(), count=40)) == 10


def test_a_prompt_of_ones_own_has_the_passage():
    assert filled("Ask of: {passage} {x}", passage=PASSAGE.text) == f"Ask of: {PASSAGE.text} {{x}}"
    with pytest.raises(SpecError, match=r"lacks the placeholder \{passage\}"):
        asked_about(documents(), prompt="Ask something.")


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here [is] {{it}}: {GOOD} I hope that helps.",
        f"[{GOOD}]",
        f'{{"questions": [{GOOD}]}}',
        GOOD.replace("40 degrees", "40  Degrees."),
    ],
)
def test_an_answer_is_read_whatever_stands_around_it(text):
    assert taken(text)[0] == ["How warm does the water get in a saving programme?"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "an answer without JSON of question and answer"),
        ("[" * 100_000, "an answer without JSON of question and answer"),
        ('{"question": "What is it', "an answer without JSON of question and answer"),
        ('{"question": 3, "answer": "40"}', "an answer without JSON of question and answer"),
        ('{"question": "How \\ud83d hot?", "answer": "40 degrees"}', "an answer without JSON of question and answer"),
        (answer_of("Tell me how warm the water gets.", "40 degrees"), "not a question"),
        (answer_of("How warm does it get" + " really" * 40 + "?", "40 degrees"), "a question of more than 40 words"),
        (answer_of("How warm is the water, after the text?", "40 degrees"), "a question that is unclear"),
        (answer_of("What does the author say of the water?", "40 degrees"), "a question that is unclear"),
        (answer_of("What does the programme mentioned above do?", "40 degrees"), "a question that is unclear"),
        (answer_of("How warm does it get?", "40 degrees"), "a question that is unclear"),
        (answer_of("Wie warm wird das Wasser in dem Gerät?", "40 degrees"), "a question in another language"),
        (answer_of("How warm does the water get?", "60 degrees"), "an answer that is not in the passage"),
        (answer_of("How warm does the water get?", "0 degrees"), "an answer that is not in the passage"),
        (answer_of("Does the water get as warm as 40 degrees?", "40 degrees"), ANSWER),
        (answer_of("Which eco programme of this washer heats the water?", "40 degrees"), REPEATS),
    ],
)
def test_what_cannot_be_used_is_counted_by_its_reason(text, reason):
    found, problem = taken(text)
    assert found == []
    assert problem.startswith(reason)


def test_it_may_stand_for_nothing():
    assert taken(answer_of("What is it called when water is warmed a little?", "eco programme"))[0]


def test_the_text_editor_is_not_the_text():
    passage = Passage("p", "The text editor of the panel saves after each line that is typed.", "u")
    assert taken(answer_of("When does the text editor keep my work?", "after each line"), passage)[0]


def test_the_same_question_of_two_passages_is_left_out():
    stub = Stub(lambda p: answer_of("Which part would a careful owner name?", PARTS_OF[NAMES[p]]))
    built = retrieval.build(documents(), generator=stub)
    assert built.samples == ()
    assert +built.rejected == {"a question asked about two passages": 10}


def test_an_answer_is_quoted_as_the_passage_has_it():
    text = "Press “Start”,  then\nwait — it takes *five* minutes."
    assert quote_of('press "start", then wait', text) == "Press “Start”,  then\nwait"
    assert quote_of("takes five minutes.", text) == "takes *five* minutes"
    assert quote_of("five minute", text) == ""
    assert quote_of(" . ", text) == ""


@pytest.mark.parametrize(
    ("question", "answer", "says"),
    [
        ("How hot is the eco programme?", "40 degrees", ""),
        ("Is it 40 degrees that the eco programme has?", "40 degrees", ANSWER),
        ("What heats the water to a certain point?", "eco", ""),
        ("What takes so long and heats the water to 41?", "eco programme", ""),
        ("Does the eco programme of this washer save?", "40 degrees", REPEATS),
    ],
)
def test_leaks(question, answer, says):
    assert leak(question, answer, PASSAGE.text) == says


def test_names_are_no_leak():
    passage = "In 1931 the Velmo Works of Aarhus built a drum of steel."
    assert leak("What did the Velmo Works of Aarhus make?", "drum", passage) == ""
    assert leak("what did the velmo works of aarhus make?", "drum", passage) == REPEATS


def test_the_share_that_is_a_leak_is_a_parameter():
    question, answer = "Which cheap eco programme of this washer saves money and power?", "40 degrees"
    assert leak(question, answer, PASSAGE.text, share=0.4) == REPEATS
    assert leak(question, answer, PASSAGE.text, share=0.9) == ""


def test_the_overlap_is_the_share_of_content_words():
    assert overlap("What is the eco programme worth?", [PASSAGE.text]) == pytest.approx(2 / 3)
    assert overlap("What is it?", [PASSAGE.text]) == 0


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=24), max_size=9),
    st.sampled_from([2, 5, 10]),
)
def test_near_duplicates_are_those_of_all_pairs(rows, near):
    """Texts are grouped if they differ in at most one of ``near`` words: by default, of ten."""
    texts = [" ".join(row) for row in rows]
    group = list(range(len(texts)))
    for a, b in combinations(range(len(texts)), 2):
        x, y = set(tokens(texts[a])), set(tokens(texts[b]))
        if x and y and len(x & y) / len(x | y) >= 1 - 1 / near - 1e-12:
            group = [group[a] if g == group[b] else g for g in group]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("embassay.corpora.queries.passages.NEAR", near)
        found = near_duplicates(texts)
    assert [[a == b for b in found] for a in found] == [[a == b for b in group] for a in group]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"test": 1.5}, "test: must be less than or equal to 1, is 1.5"),
        ({"unanswerable": float("nan")}, "unanswerable: must be"),
        ({"unanswerable": 1}, "unanswerable: must be less than 1, is 1"),
        ({"leak": 0}, "leak: must be greater than 0, is 0"),
        ({"passages": "page"}, "passages must be document, section, paragraph"),
    ],
)
def test_options_out_of_range_are_said(options, says):
    with pytest.raises(SpecError) as error:
        ea.build("retrieval", documents(), generator=asker(), **options)
    assert says in str(error.value)


def test_a_generator_is_needed():
    with pytest.raises(SpecError, match="generator='gpt-4o-mini'"):
        retrieval.build(documents())


def test_a_passage_that_stands_everywhere_is_not_asked_about():
    notice = "A service card is a slip of paper that lists every repair of an appliance."
    sources = [SourceDocument(name, f"{text}\n\n{notice}") for name, text in PARTS]
    stub = asker()
    built = retrieval.build(sources, generator=stub)
    assert len(stub.asked) == len(PARTS)
    assert not any(notice in passage for passage in stub.asked)
    assert built.rejected["a passage that occurs in more than 3 units"] == len(PARTS)
    assert len({sample.unit for sample in built.samples}) == len(PARTS)


def machine(name):
    return (
        f"The Velmo {name} washing machine takes a load of seven kilograms and spins with fourteen hundred turns. "
        "Its drum is made of steel, its door opens to the left, and its pump empties the tub within a single minute. "
        "Owners rinse filters monthly, level feet carefully, keep hoses straight, and never overload drums."
    )


def test_a_near_duplicate_about_another_thing_is_not_right():
    sources = documents((*PARTS, ("a", machine("A100")), ("b", machine("B200")), ("c", machine("A100") + " So it is.")))
    asks = answer_of("How much laundry does the Velmo A100 take?", "seven kilograms")
    built = retrieval.build(sources, generator=Stub(lambda p: asks if p == machine("A100") else ""), unanswerable=0)
    assert told(built) == {"How much laundry does the Velmo A100 take?": ("a", "c")}


def test_a_neighbour_that_shares_the_answer_alone_is_not_right():
    words = [*(f"word{n}" for n in range(82)), *"so the Velmo Works were founded in".split(), "March", "1931"]
    words += [f"more{n}" for n in range(60)]
    asks = answer_of("In what year did the Velmo Works start?", "1931")
    stub = Stub(lambda p: asks if "Velmo" in p else "")
    built = retrieval.build([SourceDocument("a", " ".join(words))], generator=stub, passages="100", unanswerable=0)
    assert "1931" in built.documents[1].passages[0]
    assert told(built) == {"In what year did the Velmo Works start?": ("a#1",)}


ELSEWHERE = ("tale", "The story goes like this: in 1931 two brothers rented a shed, and the Velmo Works began there.")


@pytest.mark.parametrize("seed", range(4))
def test_a_unit_whose_questions_another_may_answer_is_not_taken_away(seed):
    asks = answer_of("In what year did the Velmo Works start?", "1931")
    other = answer_of("Which thing do owners wipe once in seven days?", "door")
    sources = documents((PARTS[3], ELSEWHERE, ("door", "Wipe the door and its seal with a soft cloth each week.")))
    stub = Stub(lambda p: asks if p == PARTS[3][1] else other if "Wipe" in p else "")
    built = retrieval.build(sources, generator=stub, unanswerable=0.9, seed=seed)
    assert told(built)["In what year did the Velmo Works start?"] == ("maker",)
    assert told(built)["Which thing do owners wipe once in seven days?"] == ()
    assert any("the passages of 1 unit were removed" in note for note in built.notes)


@given(st.lists(st.sampled_from("abcd"), max_size=9), st.lists(st.sampled_from("abcd"), max_size=30))
def test_runs_are_those_of_the_naive_search(asked, words):
    def longest(at):
        sizes = range(len(asked) - at, 2, -1)
        inside = (words[place : place + size] for size in sizes for place in range(len(words) - size + 1))
        return next((run for run in inside if run == asked[at : at + len(run)]), [])

    assert list(shared_runs(asked, " ".join(words))) == [run for run in map(longest, range(len(asked))) if run]


@pytest.mark.parametrize("units", [1, 3])
def test_the_last_unit_is_not_taken_away(units):
    built = build(documents(PARTS[:units]), unanswerable=0.99)
    assert len(built.documents) == 1
    assert sum(bool(sample.right) for sample in built.samples) == 1
    assert any(note.startswith("1 fewer than requested: ") for note in built.notes)


def test_each_place_of_a_prompt_is_filled():
    assert filled("{passage} again {passage}", passage=PASSAGE.text) == f"{PASSAGE.text} again {PASSAGE.text}"


def test_a_heading_without_text_goes_along_with_the_next():
    text = "# Manual of the pump\n\n## Old\n\n## Cleaning\n\nRinse it.\n\n## Care\n\nOil it.\n\nDry it."
    found = passages_of([SourceDocument("a", text)], "paragraph")
    assert [p.text for p in found] == ["Manual of the pump\nOld\nCleaning\nRinse it.", "Care\nOil it.", "Dry it."]
    assert [p.headings for p in found] == [("Manual of the pump", "Old", "Cleaning"), ("Care",), ()]


def test_a_title_stands_above_the_first_heading():
    text = "# Parts\n\nTen.\n\n## Prices\n\nLow."
    texts = [p.text for p in passages_of([SourceDocument("a", text, "Pumps")], "paragraph")]
    assert texts == ["Pumps\nParts\nTen.", "Prices\nLow."]
    assert passages_of([SourceDocument("a", text, "Parts")], "paragraph")[0].text == "Parts\nTen."
