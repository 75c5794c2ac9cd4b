"""The contract of a shuffler."""

import numpy as np

from croupier.model.shuffler import Shuffler
from croupier.numerics.keystream import Keystream
from croupier.testing.contract import require

__all__ = ["check_shuffler"]


def check_shuffler(shuffler: Shuffler) -> None:
    """Check that a shuffler orders every batch, loses nothing and takes its randomness from `rng`.

    Raises:
        ContractError: A promise does not hold.
    """
    for n in (0, 1, 2, 1000):
        order = shuffler.order(n, rng=Keystream(insecure_seed=n))
        require((np.sort(order) == np.arange(n)).all(), "`order` is a permutation")
        again = shuffler.order(n, rng=Keystream(insecure_seed=n))
        require((order == again).all(), "`order` depends on `rng` only")
        batch = shuffler.shuffle(np.arange(n) + 7, rng=Keystream(insecure_seed=n))
        require((batch == order + 7).all(), "`shuffle` applies `order`")
    orders = [shuffler.order(1000).tolist() for _ in range(2)]
    require(orders[0] != orders[1], "without `rng`, each order is drawn afresh")
