"""The report in a real browser: draws, needs no network, fits a phone, passes axe, works with the keyboard alone."""

import csv
import io
import os

import pytest

from embassay.api import assay, report
from embassay.corpora.builtin.handbook import write_files
from embassay.models.lexical.hashing import HashingEncoder
from tables import hostile

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = os.environ.get("EMBASSAY_DATA")
    source = f"semantoneg={folder}/semantoneg/SemAntoNeg_v1.0.json" if folder else "opposites"
    rows = [f"genre\tfile\tyear\t{n}\t{n % 6}\tThe lamp {n} is on.\tLamp {n} shines." for n in range(40)]
    pairs = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    pairs.write_text("\n".join(rows), encoding="utf-8")
    corpora = [source, "built_in=opposites", "edits", "vignettes", "paraphrases", str(pairs)]
    result = assay(["hashing", "bow"], corpora, profile="research", cache=None, limit=60, resamples=100)
    return report(result, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def decision_file(tmp_path_factory):
    """A page about one's own documents and questions."""
    place = tmp_path_factory.mktemp("own")
    questions = write_files(place)
    corpus = f"mine={place}/docs,questions={questions}"
    result = assay(["hashing", "small=hashing,dim=8", "bow"], corpus, "retrieval", cache=None, resamples=100)
    return report(result, place / "report.html")


WINDOWS = {
    "desk": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 800}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
}


@pytest.fixture
def page_of(browser_window):
    """Open a page, and remember everything that went wrong and everything that it asked for."""
    contexts = []

    def open_page(path, window="desk", anchor=""):
        context = browser_window.new_context(**WINDOWS[window], offline=True, accept_downloads=True)
        contexts.append(context)
        page = context.new_page()
        page.troubles, page.requests = [], []
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on(
            "console",
            lambda message: page.troubles.append(message.text) if message.type in ("error", "warning") else None,
        )
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(path.as_uri() + anchor)
        return page

    yield open_page
    for context in contexts:
        context.close()


def wait_until(page, condition):
    """Wait until an expression is true; the page's policy forbids Playwright's own way, which evaluates a text."""
    for _ in range(150):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"not true after 15 seconds: {condition}")


def unfold(page):
    """Open everything, and wait until all charts are drawn; return their number."""
    page.evaluate("""() => {
        for (const fold of document.querySelectorAll("details")) fold.open = true;
        for (const figure of document.querySelectorAll("figure[hidden]")) figure.hidden = false;
        for (const part of document.querySelectorAll(".lazy")) part.style.contentVisibility = "visible";
    }""")
    charts = page.locator("figure[data-chart]").count()
    for place in range(charts):
        page.locator("figure[data-chart]").nth(place).scroll_into_view_if_needed()
        # What comes into view is noticed with the next frame.
        page.wait_for_timeout(50)
    wait_until(page, f"document.querySelectorAll('figure[data-drawn=yes]').length === {charts}")
    return charts


@pytest.mark.parametrize("window", WINDOWS)
def test_it_draws_every_chart_without_errors_or_requests(page_of, page_file, window):
    page = page_of(page_file, window)
    charts = unfold(page)
    assert page.troubles == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert charts >= 20
    assert page.locator("figure .chart svg").count() == charts
    assert page.evaluate("document.documentElement.scrollWidth") <= WINDOWS[window]["viewport"]["width"]
    labels = page.locator("figure[data-chart]").evaluate_all("all => all.map(f => f.getAttribute('aria-label'))")
    assert all(labels)


@pytest.mark.parametrize(("window", "screens"), [("desk", 1), ("phone", 2)])
def test_decision_and_chart_are_seen_first(page_of, decision_file, window, screens):
    page = page_of(decision_file, window)
    wait_until(page, "document.querySelector('figure[data-chart]').dataset.drawn === 'yes'")
    ends = [page.locator(part).first.bounding_box() for part in ("dl.answers", "figure[data-chart]")]
    assert [end["y"] + end["height"] <= 900 * screens for end in ends] == [True, True]
    assert page.locator("dl.answers dt").first.inner_text() == "Use"
    assert page.locator("#scorecard").count() == 0
    terms = page.locator("#glossary dt").all_text_contents()
    assert "95% interval" in terms
    assert "Antonym" not in terms


PARTS_OF_PAGE = {
    "table": "section.lazy > .block .scroll:has(table)",
    "chart": "figure[data-drawn=yes] .chart",
    "items": ".examples",
    "text": "dl.answers",
}


@pytest.mark.parametrize("kind", PARTS_OF_PAGE)
@pytest.mark.parametrize("window", WINDOWS)
def test_each_kind_of_part_can_be_read(page_of, decision_file, tmp_path, window, kind):
    """Its picture has ink on it, and it is no wider than the window."""
    image = pytest.importorskip("PIL.Image")
    page = page_of(decision_file, window)
    unfold(page)
    part = page.locator(PARTS_OF_PAGE[kind]).filter(visible=True).first
    part.scroll_into_view_if_needed()
    part.screenshot(path=tmp_path / "part.png")
    with image.open(tmp_path / "part.png") as picture:
        counts = sorted((count for count, _ in picture.convert("RGB").getcolors(maxcolors=1 << 24)), reverse=True)
        assert picture.width <= WINDOWS[window]["viewport"]["width"]
    assert len(counts) > 10
    assert 0.01 < 1 - counts[0] / sum(counts) < 0.7
    assert page.troubles == []


def test_charts_wait_until_they_are_seen(page_of, page_file):
    page = page_of(page_file)
    page.wait_for_timeout(500)
    drawn = page.locator("figure[data-drawn]").count()
    assert drawn < 5
    page.locator("section.lazy h2").nth(1).scroll_into_view_if_needed()
    wait_until(page, f"document.querySelectorAll('figure[data-drawn=yes]').length > {drawn}")


ALL_BUT_COLOURS = {"rules": {"color-contrast": {"enabled": False}}}


@pytest.mark.parametrize(
    ("window", "rules"), [("desk", {}), ("phone", ALL_BUT_COLOURS), ("dark", {"runOnly": ["color-contrast"]})]
)
def test_axe_finds_nothing(page_of, page_file, window, rules):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = page_of(page_file, window)
    unfold(page)
    # Parts of one kind are alike, and axe takes a minute for all of them.
    page.evaluate("""() => {
        const alike = "tbody tr:nth-child(n+3), li:nth-child(n+4), dl > :nth-child(n+7), svg g > :nth-child(n+4)";
        for (const part of document.querySelectorAll(alike)) part.remove();
    }""")
    found = axe.Axe().run(page, options={"resultTypes": ["violations"], **rules})
    assert [(v["id"], v["nodes"][0]["html"][:120]) for v in found.response["violations"]] == []


def test_a_link_opens_what_it_leads_to(page_of, page_file):
    anchor = "negated_antonyms-built_in--which-differences-are-shown-accuracy"
    page = page_of(page_file, anchor=f"#{anchor}")
    assert page.locator(f"[id={anchor}]").evaluate("fold => fold.open")
    table = page.locator(f"[id={anchor}] table")
    table.wait_for()
    top = table.evaluate("table => table.getBoundingClientRect().top")
    assert 0 <= top < 900
    # The same where the address changes on the page itself.
    page.evaluate("location.hash = '#what-encoders'")
    wait_until(page, "document.getElementById('what-encoders').open")


def test_no_table_is_cut_on_a_phone(page_of, page_file):
    page = page_of(page_file, "phone")
    unfold(page)
    tables = page.locator(".scroll:has(table)")
    places = [place for place in range(tables.count()) if tables.nth(place).is_visible()]
    assert len(places) > 20
    for place in places:
        tables.nth(place).scroll_into_view_if_needed()
        tables.nth(place).locator("xpath=following-sibling::*[@class='bar']").wait_for()
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)"
    assert tables.evaluate_all(cut) == []
    # Each value of a wide table has its heading, and the filter still hides lines.
    wide = page.locator("table.stacked", has_text="guilty").filter(visible=True).first
    assert wide.locator("td").first.evaluate("cell => getComputedStyle(cell, '::before').content") not in ("none", '""')
    search = wide.locator("xpath=../following-sibling::*[@class='bar']//input")
    search.fill("guilty")
    assert 0 < wide.locator("tbody tr:visible").count() < wide.locator("tbody tr").count()


def test_search_leads_to_the_place(page_of, page_file):
    page = page_of(page_file)
    page.fill("#search", "guilty")
    hits = page.locator("#hits a")
    assert hits.count() >= 1
    page.fill("#search", "nothing has this text")
    assert page.locator("#hits").inner_text() == "nothing found"
    page.fill("#search", "Which differences are shown")
    target = hits.first.get_attribute("href")
    hits.first.click()
    assert page.evaluate("decodeURI(location.hash)") == target
    assert page.locator("#hits").is_hidden()
    assert page.locator(f"[id='{target[1:]}']").evaluate("fold => fold.open")


def headline(page):
    block = page.locator("section[id='negated_antonyms-built_in'] > .block", has=page.locator("table"))
    block.locator("table").scroll_into_view_if_needed()
    block.locator(".bar button").wait_for()
    return block


def test_tables_are_sorted_and_filtered(page_of, page_file):
    page = page_of(page_file)
    block = headline(page)
    accuracy = block.locator("thead button", has_text="accuracy")

    def values():
        return [float(text.split("%")[0]) for text in block.locator("tbody td:nth-child(2)").all_inner_texts()]

    accuracy.click()
    assert block.locator("thead th").nth(1).get_attribute("aria-sort") == "descending"
    assert values() == sorted(values(), reverse=True)
    accuracy.click()
    assert values() == sorted(values())

    of_pairs = (
        "negated_antonyms-built_in--accuracy-on-the-entries-of-one-part-of-speech-negation-pattern-or-pair-of-words"
    )
    page.goto(f"{page_file.as_uri()}#{of_pairs}")
    page.reload()
    pairs = page.locator(f"[id='{of_pairs}']")
    pairs.locator("input[type=search]").first.fill("guilty")
    shown = pairs.locator("table").first.locator("tbody tr:visible").all_inner_texts()
    assert shown
    assert all("guilty" in line for line in shown)


def test_tables_and_charts_can_be_downloaded(page_of, page_file):
    page = page_of(page_file)
    block = headline(page)
    with page.expect_download() as waiting:
        block.locator(".bar button", has_text="CSV").click()
    rows = list(csv.reader(io.StringIO(waiting.value.path().read_text(encoding="utf-8-sig"))))
    assert rows[0][:4] == ["encoder", "accuracy", "accuracy, low", "accuracy, high"]
    assert len({len(row) for row in rows}) == 1
    assert {"hashing", "bow", "random", "tfidf"} == {row[0] for row in rows[1:]}
    assert all(float(row[1].removesuffix("%")) <= 100 for row in rows[1:])

    figure = page.locator("section[id='negated_antonyms-built_in'] > .block figure").first
    figure.locator(".bar button").first.wait_for()
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as waiting:
            figure.locator(".bar button", has_text=kind).click()
        assert waiting.value.suggested_filename.endswith(f".{kind.lower()}")
        assert waiting.value.path().read_bytes().startswith(start)
    assert page.troubles == []


def test_one_encoder_is_highlighted_everywhere(page_of, page_file):
    page = page_of(page_file)
    page.select_option("#model", "bow")
    assert page.locator("tr.chosen th").count() >= 5
    assert {text.split("\n")[0] for text in page.locator(".scores tr.chosen th").all_inner_texts()} == {"bow"}
    page.select_option("#model", "")
    assert page.locator(".chosen").count() == 0


def test_it_works_with_the_keyboard_alone(page_of, page_file):
    page = page_of(page_file)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"
    # Every control is reached, and what has the focus is visible.
    reached = set()
    page.evaluate("scrollTo(0, 0)")
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", page.evaluate("document.activeElement.outerHTML.slice(0, 100)")
    assert {"A", "BUTTON", "SUMMARY"} <= reached
    # A fold opens by Enter, a table is sorted by Enter.
    page.locator("section[id='negated_antonyms-built_in'] details > summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("section[id='negated_antonyms-built_in'] details").first.evaluate("fold => fold.open")
    block = headline(page)
    block.locator("thead button").first.focus()
    page.keyboard.press("Enter")
    assert block.locator("thead th").first.get_attribute("aria-sort")


def test_light_and_dark_can_be_changed(page_of, page_file):
    page = page_of(page_file, "dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(20, 24, 30)"
    page.locator("section.lazy figure").first.scroll_into_view_if_needed()
    page.locator("figure[data-drawn=yes]").first.wait_for()
    # While a chart is drawn again it has no labels.
    label = "document.querySelector('figure[data-drawn=yes] svg .role-axis-label text')"
    text = f"{label} && getComputedStyle({label}).fill"
    wait_until(page, f"{text} === 'rgb(228, 232, 238)'")
    page.locator("#theme").click()
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    wait_until(page, f"{text} === 'rgb(29, 36, 48)'")


def test_a_phone_has_its_contents_behind_a_button(page_of, page_file):
    page = page_of(page_file, "phone")
    assert page.locator("nav").is_hidden()
    page.locator("#contents").click()
    page.locator("nav").get_by_text("Scorecard").click()
    assert page.evaluate("location.hash") == "#scorecard"
    assert page.locator("nav").is_hidden()


def test_everything_is_on_paper(page_of, page_file, tmp_path):
    page = page_of(page_file)
    page.evaluate("window.print = () => { window.printed = true; }")
    page.locator("#print").click()
    wait_until(page, "window.printed === true")
    charts = page.locator("figure[data-chart]").count()
    assert page.locator("figure[data-drawn=yes]").count() == charts
    page.emulate_media(media="print")
    assert page.locator("header").is_hidden()
    assert page.locator("details").last.evaluate("fold => fold.getBoundingClientRect().height") > 30
    paper = page.pdf(path=tmp_path / "page.pdf")
    assert paper.startswith(b"%PDF")
    assert len(paper) > 200_000


def test_the_browser_prints_every_chart_in_light_colours(page_of, page_file):
    page = page_of(page_file, "dark")
    charts = page.locator("figure[data-chart]").count()
    # Asked when the page's own listener has run, and nothing else: this is what comes on paper.
    page.evaluate("""() => addEventListener("beforeprint", () => {
        window.onPaper = document.querySelectorAll("figure[data-drawn=yes] svg").length;
        const labels = [...document.querySelectorAll("figure .role-axis-label text")];
        window.inkOnPaper = [...new Set(labels.map((label) => getComputedStyle(label).fill))];
    })""")
    folded = page.locator("details:not([open])").count()
    page.pdf()
    assert page.evaluate("window.onPaper") == charts
    assert page.evaluate("window.inkOnPaper") == ["rgb(29, 36, 48)"]
    # The screen is as it was.
    assert page.locator("details:not([open])").count() == folded
    page.locator("figure[data-chart]").first.scroll_into_view_if_needed()
    label = "document.querySelector('figure[data-drawn=yes] svg .role-axis-label text')"
    wait_until(page, f"{label} && getComputedStyle({label}).fill === 'rgb(228, 232, 238)'")
    assert page.troubles == []


def test_hostile_texts_and_labels_stay_text(page_of, tmp_path):
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e\x1b[31m=1+1"
    encoder = HashingEncoder(64, f"{evil} label")
    result = assay([encoder], [hostile(f"{evil}corpus", evil)], cache=None, resamples=20)
    page = page_of(report(result, tmp_path / "evil.html"))
    page.on("dialog", lambda dialog: page.troubles.append(dialog.message))
    unfold(page)
    assert page.troubles == []
    assert page.locator("img").count() == 0
    assert page.locator("main script:not([type='application/json'])").count() == 0
    text = page.locator("main").inner_text()
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "\\u202e\\x1b[31m=1+1 label" in text
