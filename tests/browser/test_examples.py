"""The example browser in a real browser: search, filters, sorting, paging, keyboard, hostile texts, a phone, axe."""

from dataclasses import replace

import pytest

from embassay.api import assay, report
from embassay.core.result import Example

pytestmark = [pytest.mark.browser, pytest.mark.slow]
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \u202e\x00 &lt;b&gt;"
ENCODERS = ("bow", "hashing", "tfidf", "random")


def with_planted_examples(result):
    """The result with 45 entries of known outcomes, margins and texts on its one corpus."""
    examples = []
    for number in range(45):
        name = f"entry {number:02d}"
        texts = {"input": f"Input number {number:02d}", "paraphrase": f"Paraphrase {number:02d}"}
        if number == 7:
            texts = {"input": EVIL, "paraphrase": f"{EVIL} again"}
        subset = "odd" if number % 2 else "even"
        examples.append(Example("negated_antonyms", "opposites", "", name, "item", texts, {}, subset))
        # bow misses every third entry, hashing every second one, tfidf none; random is undecided.
        correct = {"bow": number % 3 != 0, "hashing": number % 2 != 0, "tfidf": True, "random": None}
        for encoder in ENCODERS:
            margin = None if encoder == "random" else (number * 7 % 45) / 100 - 0.2
            values = {"paraphrase": 0.5, "antonym": 0.25}
            labels = {"chosen": EVIL if number == 7 else "paraphrase"}
            examples.append(
                Example(
                    "negated_antonyms",
                    "opposites",
                    encoder,
                    name,
                    "outcome",
                    {},
                    values,
                    subset,
                    labels,
                    correct[encoder],
                    margin,
                )
            )
    return replace(result, examples=tuple(examples))


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    result = assay(["bow", "hashing"], ["opposites"], cache=None, resamples=20, examples=0)
    return report(with_planted_examples(result), tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(params=[(1280, 900), (390, 800)], ids=["desk", "phone"])
def page(browser_window, page_file, request):
    """The page, freshly opened, which must not report an error, ask for anything or show a dialog."""
    width, height = request.param
    context = browser_window.new_context(viewport={"width": width, "height": height}, offline=True)
    page = context.new_page()
    page.set_default_timeout(5_000)
    troubles = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None)
    page.on("dialog", lambda dialog: troubles.append(dialog.message))
    page.on("request", lambda request: troubles.append(request.url) if request.url.startswith("http") else None)
    page.goto(page_file.as_uri())
    open_items(page)
    yield page
    assert troubles == []
    context.close()


def open_items(page):
    """Open the browser, which is folded at first.

    A click could miss it: what is far below is laid out when it is scrolled to, and moves.
    """
    page.locator("details.block:has(.examples)").evaluate_all("all => all.forEach(one => one.open = true)")


def headings(page):
    return [text.removeprefix("input: ") for text in page.locator(".examples .item h4").all_inner_texts()]


def numbers(page):
    return [int(heading.removeprefix("Input number ")) for heading in headings(page) if "alert" not in heading]


def status(page):
    return page.locator(".examples .status").inner_text()


def choose(page, label, option):
    page.get_by_label(label, exact=True).select_option(option)


def test_it_starts_with_what_the_first_encoder_misses_the_clearest_failure_first(page):
    missed = range(0, 45, 3)
    assert page.get_by_label("Show", exact=True).input_value() == "a"
    assert status(page) == "1–15 of 15 matching items (of 45)"
    assert numbers(page) == sorted(missed, key=lambda number: number * 7 % 45)


def test_items_are_sorted_by_margin_or_as_in_the_corpus(page):
    choose(page, "Show", "all")
    order = [number for number in sorted(range(45), key=lambda number: number * 7 % 45) if number != 7]
    assert status(page) == "1–20 of 45 items"
    assert numbers(page) == order[: len(numbers(page))]
    choose(page, "Sort by", "best")
    assert numbers(page) == order[::-1][: len(numbers(page))]
    choose(page, "Sort by", "order")
    assert numbers(page) == [number for number in range(20) if number != 7]


def test_pages_turn_and_end(page):
    choose(page, "Show", "all")
    choose(page, "Sort by", "order")
    back, forward = page.get_by_role("button", name="← Previous"), page.get_by_role("button", name="Next →")
    assert back.is_disabled()
    forward.click()
    assert (status(page), numbers(page)) == ("21–40 of 45 items", list(range(20, 40)))
    forward.click()
    assert (status(page), numbers(page)) == ("41–45 of 45 items", list(range(40, 45)))
    assert forward.is_disabled()
    back.click()
    assert numbers(page)[0] == 20
    assert page.evaluate("document.activeElement.className") == "items", "the next item is one key away"


def test_search_looks_in_all_texts_and_counts(page):
    choose(page, "Show", "all")
    page.locator(".examples").get_by_label("Search").fill("PARAPHRASE 3")
    # The word and the digit may be anywhere: 03, 13, 23, 30–39, 43.
    assert status(page) == "1–14 of 14 matching items (of 45)"
    page.locator(".examples").get_by_label("Search").fill("nothing like it")
    assert status(page) == "No item matches (of 45)."
    assert headings(page) == []
    page.locator(".examples").get_by_label("Search").fill("entry 11")
    assert numbers(page) == [11]


def test_filters_by_who_misses_an_item(page):
    choose(page, "Sort by", "order")
    by_a = set(range(0, 45, 3))
    by_b = set(range(0, 45, 2))
    choose(page, "Encoder A", "bow")
    choose(page, "Encoder B", "hashing")
    options = page.get_by_label("Show", exact=True).locator("option").all_inner_texts()
    assert options == [
        "all items (45)",
        f"missed by all ({len(by_a & by_b)})",
        f"missed by some, not by all ({len(by_a ^ by_b)})",
        f"missed by none ({45 - len(by_a | by_b)})",
        f"missed by A ({len(by_a)})",
        f"missed by A, but not by B ({len(by_a - by_b)})",
    ]
    choose(page, "Show", "only")
    assert numbers(page) == sorted(by_a - by_b)
    choose(page, "Encoder A", "hashing")
    choose(page, "Encoder B", "bow")
    assert numbers(page) == sorted(by_b - by_a)
    choose(page, "Show", "every")
    assert numbers(page) == sorted(by_a & by_b)
    choose(page, "Show", "all")
    choose(page, "Subset", "odd")
    assert numbers(page) == [number for number in range(41) if number % 2 and number != 7][: len(numbers(page))]


def test_an_item_has_its_texts_and_what_each_encoder_made_of_it(page):
    page.locator(".examples").get_by_label("Search").fill("entry 06")
    card = page.locator(".examples .item")
    assert card.locator("dd").all_inner_texts() == ["Paraphrase 06"]
    assert card.locator(".about").inner_text() == "id entry 06 · subset: even"
    rows = {row.split()[0]: row for row in card.locator("tbody tr").all_inner_texts()}
    assert set(rows) == set(ENCODERS)
    assert "✗ wrong" in rows["bow"] and "✗ wrong" in rows["hashing"] and "✓ right" in rows["tfidf"]
    assert "wrong" not in rows["random"] and "right" not in rows["random"]
    assert "0.500" in rows["bow"] and "0.220" in rows["bow"]


def test_hostile_texts_stay_text_and_say_what_they_hide(page):
    choose(page, "Show", "all")
    page.locator(".examples").get_by_label("Search").fill("onerror")
    assert status(page) == "1–1 of 1 matching items (of 45)"
    shown = EVIL.replace("\u202e", "\\u202e").replace("\x00", "\\x00")
    assert headings(page) == [shown]
    card = page.locator(".examples .item")
    assert card.locator("dd").inner_text() == f"{shown} again"
    assert card.locator("img, script, b").count() == 0
    assert shown in card.locator("tbody").inner_text()


def test_the_keyboard_is_enough(page):
    choose(page, "Show", "all")
    page.locator(".examples").get_by_label("Search").focus()
    page.keyboard.type("input number 1")
    assert status(page).startswith("1–")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.labels[0].innerText") == "Show"
    page.keyboard.press("ArrowDown")
    assert page.get_by_label("Show", exact=True).input_value() == "every"
    page.locator(".examples").get_by_label("Search").fill("")
    page.get_by_label("Show", exact=True).select_option("all")
    page.get_by_role("button", name="Next →").focus()
    page.keyboard.press("Enter")
    assert status(page).startswith("21–40")


def test_it_does_not_scroll_sideways(page):
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    beyond = "e => e.getBoundingClientRect().right > window.innerWidth + 1"
    wide = page.evaluate(f"[...document.querySelectorAll('.examples *')].filter({beyond}).length")
    assert wide == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.emulate_media(color_scheme=scheme)
    found = axe.Axe().run(page, context=".examples")
    assert [(v["id"], v["nodes"][0]["html"][:120]) for v in found.response["violations"]] == []


def test_a_step_is_compared_with_what_it_is_built_on(browser_window, tmp_path):
    result = with_planted_examples(assay(["bow", "hashing"], ["opposites"], cache=None, resamples=20, examples=0))
    encoders = [replace(one, step="fusion", parts=("random",)) if one.name == "bow" else one for one in result.encoders]
    result = replace(result, encoders=tuple(encoders))
    context = browser_window.new_context(offline=True)
    page = context.new_page()
    page.goto(report(result, tmp_path / "report.html").as_uri())
    open_items(page)
    choose(page, "Sort by", "order")
    choose(page, "Encoder A", "hashing")
    assert "rescued" not in page.get_by_label("Show", exact=True).inner_text()
    choose(page, "Encoder A", "bow")
    chosen = "select => select.selectedOptions[0].text"
    assert page.get_by_label("Encoder B", exact=True).evaluate(chosen) == "random"
    # bow misses every third entry; random is undecided, which lies between right and wrong.
    missed = list(range(0, 45, 3))
    choose(page, "Show", "broken")
    assert page.get_by_label("Show", exact=True).evaluate(chosen) == "broken by A: worse than B (15)"
    assert numbers(page) == missed
    choose(page, "Show", "rescued")
    assert page.get_by_label("Show", exact=True).evaluate(chosen) == "rescued by A: better than B (30)"
    assert numbers(page) == [number for number in range(45) if number not in missed and number != 7][:19]
    choose(page, "Encoder B", "hashing")
    assert page.get_by_label("Show", exact=True).evaluate(chosen) == "all items (45)"
    context.close()


def test_many_encoders_are_folded_and_shown_on_request(browser_window, tmp_path):
    encoders = [f"h{d}=hashing,dim={d}" for d in range(20, 50)]
    result = assay(encoders, ["opposites"], cache=None, limit=20, resamples=20)
    file = report(result, tmp_path / "report.html")
    context = browser_window.new_context(offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    open_items(page)
    card = page.locator(".examples .item").first
    assert card.locator("tbody tr").count() == 2
    card.get_by_text("Show the other 30 encoders").click()
    # A busy machine draws them a moment later.
    card.locator("tbody tr").nth(31).wait_for()
    assert card.locator("tbody tr").count() == 32
    context.close()
