"""Contract checks for randomizers and shufflers, those of this package and your own.

Each check raises `ContractError` with the promise that does not hold.
"""

from croupier.testing.contracts import ContractError, check_randomizer, check_shuffler
from croupier.testing.law import law_p_value

__all__ = ["ContractError", "check_randomizer", "check_shuffler", "law_p_value"]
