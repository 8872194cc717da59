"""The report in a real browser: draws, needs no network, fits a phone, passes axe."""

import os
import shutil

import pytest

from embassay.api import assay, report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (Debian: apt-get install chromium)"),
]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


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
def browser_window():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module", params=[(1200, 900), (375, 800)], ids=["desk", "phone"])
def opened(browser_window, page_file, request):
    """The page with everything that went wrong and everything it asked for."""
    width, height = request.param
    context = browser_window.new_context(viewport={"width": width, "height": height}, offline=True)
    page = context.new_page()
    troubles, requests = [], []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_file.as_uri())
    charts = page.locator("figure[data-chart]").count()
    # What is folded is drawn when it is opened.
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    page.wait_for_function(f"document.querySelectorAll('figure[data-drawn=yes]').length === {charts}", timeout=60_000)
    yield page, troubles, requests, charts, width
    context.close()


def test_it_draws_every_chart_without_errors_or_requests(opened):
    page, troubles, requests, charts, _ = opened
    assert troubles == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert charts >= 25
    assert page.locator("figure svg").count() == charts


def test_it_does_not_scroll_sideways(opened):
    page, _, _, _, width = opened
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_axe_finds_nothing(opened):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, *_ = opened
    found = axe.Axe().run(page)
    assert [(v["id"], v["nodes"][0]["html"][:120]) for v in found.response["violations"]] == []


def test_charts_have_a_name_for_screen_readers(opened):
    page, *_ = opened
    labels = page.locator("figure[data-chart]").evaluate_all("all => all.map(f => f.getAttribute('aria-label'))")
    assert all(labels)
    assert page.locator("figure svg[aria-label], figure [aria-label]").count() > 0
