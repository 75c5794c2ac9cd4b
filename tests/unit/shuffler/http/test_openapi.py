from pathlib import Path

from croupier.shuffler.http.openapi import description

PUBLISHED = Path(__file__).parents[4] / "docs" / "openapi.json"


def test_the_published_description_is_current():
    assert PUBLISHED.read_bytes() == description() + b"\n", "run scripts/openapi"
