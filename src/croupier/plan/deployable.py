"""Which plans can be run, and not only assessed."""

from croupier.errors import ParameterError
from croupier.plan.plan import Plan

__all__ = ["require_deployable"]


def require_deployable(plan: Plan) -> None:
    """Refuse a plan whose proof counts on a secret sample of people: nobody draws one here.

    Raises:
        ParameterError: It is one; it can be assessed and compared, and not be run.
    """
    if plan.participation_model.sampled:
        raise ParameterError(
            "participation.model",
            must="not be subsample where a plan is run: nobody draws the sample here",
            got="subsample",
            hint='Try "single" with all enrolled people, or "multinomial".',
        )
