"""The people whose reports hide one another."""

from croupier.errors import ParameterError
from croupier.numerics.validate import number_of_people

__all__ = ["SHARED_RANDOMIZER", "honest_people", "people_assumptions"]

SHARED_RANDOMIZER = (
    "one epsilon_local-private randomizer for everybody, known or not, or one assigned "
    "independently of the person"
)
"""The assumption if only epsilon_local is known. No order hides randomizers that belong to people:
if each person signs an epsilon_local-private answer with a name, shuffling hides nothing."""

_MOST_PEOPLE = 10**18


def honest_people(n: float, corrupt: float, report_probability: float) -> int:
    """The number of people a guarantee rests on."""
    n = number_of_people("n", n, least=1, most=_MOST_PEOPLE)
    corrupt = number_of_people("corrupt", corrupt, least=0)
    if corrupt >= n:
        raise ParameterError("corrupt", must=f"be in [0, n = {n:,})", got=corrupt)
    if not 0 < report_probability <= 1:
        raise ParameterError("report_probability", must="be in (0, 1]", got=report_probability)
    return n - corrupt


def people_assumptions(
    honest: int, report_probability: float, *, exactly: bool = False
) -> tuple[str, ...]:
    """The assumptions about the shuffler and the people.

    An upper bound also holds if others report more often; a lower one for exactly that chance.
    """
    if report_probability == 1:
        reports = "report" if honest == 1 else "reports"
        return ("uniform order", f"{honest:,} honest {reports}, none dropped")
    chance = f"{'' if exactly else 'at least '}{report_probability:g}"
    share = f"each reports independently with probability {chance}"
    return ("uniform order", f"{honest:,} honest people", share)
