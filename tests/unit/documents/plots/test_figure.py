import pytest

from croupier.documents.plots.figure import drawing, panels, require_plottable
from croupier.errors import ParameterError


def draw(path):
    with drawing(path, title="one", across="right", up="above") as axes:
        axes.plot([1, 2], [3, 4], label="line")


def test_the_same_picture_is_the_same_file(tmp_path):
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    draw(first)
    draw(second)
    assert first.read_bytes() == second.read_bytes()
    assert ">right</text>" in first.read_text()


def test_pictures_other_than_svg_are_still_saved(tmp_path):
    draw(tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


def test_panels_fill_rows_and_have_legends_where_there_are_labels(tmp_path):
    labels = [(title, "x", "y") for title in ("a", "b", "c", "d")]
    with panels(tmp_path / "four.svg", labels, inches=(6, 4), rows=2) as grid:
        grid[0].plot([0, 1], [0, 1], label="named")
        grid[1].plot([0, 1], [0, 1])
        assert len(grid) == 4
        assert [axes.get_title() for axes in grid] == ["a", "b", "c", "d"]
    assert [axes.get_legend() is not None for axes in grid] == [True, False, False, False]


def test_panels_that_do_not_fill_the_rows_are_refused(tmp_path):
    labels = [("a", "x", "y")] * 3
    with (
        pytest.raises(ValueError, match="longer"),
        panels(tmp_path / "no.svg", labels, inches=(6, 4), rows=2),
    ):
        pass


def test_a_folder_that_is_not_there_is_refused_before_anything_is_computed(tmp_path):
    with pytest.raises(ParameterError, match="in a folder that exists"):
        require_plottable(tmp_path / "nowhere" / "one.svg")
