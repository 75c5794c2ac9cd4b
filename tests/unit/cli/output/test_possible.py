"""Estimates that noise moved out of the possible range."""

from croupier.cli.output.possible import shown


def test_an_estimate_outside_its_interval_is_shown_at_the_end_with_a_star():
    points, lower, upper = [-0.02, 0.5, 1.01], [0.0, 0.4, 0.9], [0.1, 0.6, 1.0]
    assert shown(points, lower, upper) == (["0.00 %*", "50.00 % ", "100.00 %*"], True)


def test_estimates_inside_have_no_star_and_no_room_for_one():
    assert shown([1.5], [0.0], [2.0], factor=1, form=".6g", unit="") == (["1.5"], False)
