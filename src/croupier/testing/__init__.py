"""Contract checks for randomizers and shufflers, shipped ones and your own.

Each check raises `ContractError` with the promise that does not hold.
"""

from croupier.testing.contract import ContractError
from croupier.testing.law import law_p_value
from croupier.testing.randomizer import check_randomizer
from croupier.testing.shuffler import check_shuffler

__all__ = ["ContractError", "check_randomizer", "check_shuffler", "law_p_value"]
