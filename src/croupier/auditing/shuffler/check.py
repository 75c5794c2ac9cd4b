"""The test of one promise of a shuffler."""

from dataclasses import dataclass

from croupier.auditing.shuffler.order_uniformity import OrderTest

__all__ = ["ShufflerCheck"]


@dataclass(frozen=True)
class ShufflerCheck:
    """The test of one promise.

    Attributes:
        promise: "lost", "doubled", "minimum", "count", "ciphertext", "position", "timing",
            "accepted" or "dummies".
        words: The description of what was counted.
        observed: The count.
        found_from: The least count that is a violation: the sensitivity of this audit.
        p_value: The chance of so many from an honest shuffler, at most; 0 if one is too many.
        reports: The number of test reports whose order was tested; 0 if it is not about order.
        batches: The number of batches that were tested together.
        order: Everything that was tested in this order.
    """

    promise: str
    words: str
    observed: int
    found_from: int
    p_value: float = 0.0
    reports: int = 0
    batches: int = 1
    order: OrderTest | None = None

    @property
    def violated(self) -> bool:
        """True if the promise was not kept."""
        return self.observed >= self.found_from
