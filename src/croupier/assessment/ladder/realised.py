"""What a collection leaks at the size that its batches came to have."""

from croupier.assessment.ladder.ladder import batch_epsilon
from croupier.model.guarantee import Guarantee
from croupier.plan.plan import Plan

__all__ = ["realised_epsilon"]


def realised_epsilon(plan: Plan, *, people: int) -> Guarantee | None:
    """Epsilon against a reader of the batches, if the smallest had so many people.

    The plan is proved anew with `people` in the place of its minimum batch.

    Where nulls fill the rounds, the plan's own proof counts the people who are present in every
    round, and nobody can tell from batches how many those are. So it is proved as if everybody knew
    who sends in which round: that counts the people of each round alone.

    Holds when every counted report is an honest person's; as `assess` otherwise.
    Direction: upper, rounded up.

    Args:
        plan: What was collected.
        people: Valid reports of distinct people in the smallest batch.

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
        population__enrolled=max(plan.population.enrolled, plan.equal_parts * people),
        population__corrupt_fraction=0.0,
    )
    model = plan.participation_model
    if all(model.answering(number) == 1 for number in range(model.rounds)):
        return batch_epsilon(grown)
    seen = grown.replace(participation__model=model.unpadded().model)
    return batch_epsilon(seen, rounds_seen=True)
