import re

from firstlight.demo.part import Size
from firstlight.demo.whole import demonstrate

TINY = Size(
    stories=600, trained_stories=12, words=60, window=20, layers=2, steps=8, variables=14, chain_steps=20,
    lengths=(3, 6), count=8,
)  # fmt: skip


def test_the_demonstration_shows_every_part_and_ends_with_a_page_that_needs_nothing_else(tmp_path):
    *shown, times, places = demonstrate(tmp_path, TINY, workers=1, seed=0)
    assert [re.split(r"[:, ]", text)[0] for text in shown] == ["600", "2", "C6"]
    for stage in ("corpus", "context", "training the reference model", "training a model to track states"):
        assert stage in times
    page = tmp_path / "report.html"
    assert places.splitlines()[-1] == f"report: {page}"
    text = page.read_text()
    assert {"What goes with what", "How far the prediction carries", "How far a learnt rule carries"} <= set(
        re.findall(r"<h2>(.*?)</h2>", text)
    )
    assert "http://" not in re.sub(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+", "", text)
    assert "<script" not in text


def test_a_second_demonstration_in_the_same_place_says_the_same(tmp_path):
    first = list(demonstrate(tmp_path, TINY, workers=1, seed=0))
    again = list(demonstrate(tmp_path, TINY, workers=1, seed=0))
    assert again[:-2] == first[:-2]
