"""The report, opened in a browser."""

import pytest

from browser import Visit
from kgflow.analysis.report import registered_sections


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_fits_and_asks_for_nothing(chromium, report, width, dark):
    visit = Visit(chromium, report.page.as_uri(), width, dark)
    page = visit.page
    for section in registered_sections():
        assert page.locator(f"section#{section.id} h2").is_visible()
    for shown in ("calibration", "prediction-sets", "certainty"):
        assert page.locator(f"section#{shown} svg").first.is_visible()
        assert page.locator(f"section#{shown} figure table").first.is_visible()
    assert page.locator("section#rules figure table").first.is_visible()
    boxes = [svg.bounding_box() for svg in page.locator("svg[role=img]").all()]
    assert all(box["width"] > 200 and box["x"] + box["width"] <= width for box in boxes)
    for summary in page.locator("summary").all():
        summary.click()
    assert page.locator("details table").first.is_visible()
    assert visit.overflow() <= 0
    assert visit.errors == []
    assert visit.requests == []
    visit.close()


def test_the_contents_lead_to_the_sections(chromium, report):
    visit = Visit(chromium, report.page.as_uri(), 1280)
    visit.page.get_by_role("link", name="Data", exact=True).click()
    assert visit.page.url.endswith("#data")
    visit.page.wait_for_function(
        "document.querySelector('#data').getBoundingClientRect().top < 450"
    )
    visit.close()
