"""The leaks of a collection at the actual size of its batches."""

from croupier.assessment.ladder.ladder import batch_epsilon
from croupier.model.guarantee import Guarantee
from croupier.plan.plan import Plan

__all__ = ["realised_epsilon"]


def realised_epsilon(plan: Plan, *, people: int) -> Guarantee | None:
    """Prove epsilon against a reader of the batches, for the actual size of the smallest.

    The plan is proved again with `people` in place of its minimum batch.

    If nulls fill the rounds, the plan's own proof counts the people who are present in every round,
    and nobody can tell their number from the batches. So it is proved as if everybody knew who
    sends in which round: that counts only the people of each round.

    Holds when every counted report is an honest person's, and under the conditions of `assess`.
    Direction: upper, rounded up.

    Args:
        plan: The plan of the collection.
        people: The number of valid reports of distinct people in the smallest batch.

    Example:
        >>> plan = Plan.from_toml('''
        ... schema = 2
        ... randomizer = {mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}
        ... population.enrolled = 1_000_000
        ... protections.minimum_batch = 200_000
        ... ''')
        >>> print(realised_epsilon(plan, people=412_338))
        epsilon <= 0.0518 at delta 1e-08
    """
    grown = plan.replace(
        protections__minimum_batch=people,
        protections__minimum_crowd=None,  # of places, of which a smaller batch may have fewer
        population__enrolled=max(plan.population.enrolled, plan.equal_parts * people),
        population__corrupt_fraction=0.0,
    )
    model = plan.participation_model
    if all(model.answering(number) == 1 for number in range(model.rounds)):
        return batch_epsilon(grown)
    seen = grown.replace(participation__model=model.unpadded().model)
    return batch_epsilon(seen, rounds_seen=True)
