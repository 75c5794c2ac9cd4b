"""The people whose reports hide one another."""

from croupier.errors import ParameterError

__all__ = ["honest_people", "people_assumptions"]


def honest_people(n: int, corrupt: int, report_probability: float) -> int:
    """The number of people a guarantee rests on."""
    if n < 1:
        raise ParameterError("n", must="be at least 1", got=n)
    if not 0 <= corrupt < n:
        raise ParameterError("corrupt", must=f"be in [0, n = {n:,})", got=corrupt)
    if not 0 < report_probability <= 1:
        raise ParameterError("report_probability", must="be in (0, 1]", got=report_probability)
    return n - corrupt


def people_assumptions(honest: int, report_probability: float) -> tuple[str, ...]:
    """What is assumed of the shuffler and of the people."""
    if report_probability == 1:
        return ("uniform order", f"{honest:,} honest reports, none dropped")
    share = f"each reports independently with probability at least {report_probability:g}"
    return ("uniform order", f"{honest:,} honest people", share)
