import pytest


@pytest.fixture
def without_plots(monkeypatch):
    """Leave out the plots of a page whose words alone are looked at: they take most of its time."""
    monkeypatch.setattr("croupier.documents.explain.page._plots", lambda *_: ())
    monkeypatch.setattr("croupier.documents.explain.page.ladder_points", lambda *_: ())
