"""`croupier submit` names its options as they are typed."""

import pytest

PLAN = """schema = 2
randomizer = {mechanism = "k-rr", k = 10, max_epsilon_local = 2.0}
population.enrolled = 100
protections.minimum_batch = 50
"""


@pytest.mark.parametrize(
    ("server", "credential", "said"),
    [
        ("ftp://reports.example", "x", "`--server` must begin with https:// or http://; got"),
        ("http://reports.example", "x", "`--server` must begin with https://; got"),
        ("https://reports.example", "a\nb", "`--credential` must be printable ASCII"),
    ],
)
def test_a_server_that_cannot_be_asked_is_refused(croupier, tmp_path, server, credential, said):
    plan, answers = tmp_path / "plan.toml", tmp_path / "answers.csv"
    plan.write_text(PLAN)
    answers.write_text("answer\n1\n")
    given = ("--server", server, "--credential", credential)
    outcome = croupier("submit", plan, answers, *given)
    assert (outcome.code, said in outcome.err) == (2, True), outcome.err
