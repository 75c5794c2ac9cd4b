"""How an attack on samples learns."""

from croupier.auditing.blackbox.bayes_risk import SampledBayesRisk
from croupier.documents.figure import BLUE, GREY, ORANGE, Target, drawing

__all__ = ["save_convergence_plot"]


def save_convergence_plot(path: Target, found: SampledBayesRisk, *, inputs: int) -> None:
    """Draw how often the guess is wrong over the samples that it learned from."""
    with drawing(
        path,
        title=f"guessing one of {inputs:,} inputs from an output",
        across="samples learned from",
        up="wrong guesses",
    ) as axes:
        sizes = [row.learned_from for row in found.log]
        measured = [row.risk for row in found.log]
        axes.semilogx(sizes, measured, color=BLUE, marker=".", label="measured")
        label = f"at most, each at {100 * found.evidence.confidence:g} % confidence"
        bounds = [row.risk_upper for row in found.log]
        axes.semilogx(sizes, bounds, color=ORANGE, linestyle="--", marker=".", label=label)
        axes.axhline(1 - 1 / inputs, color=GREY, linestyle=":", label="blind guess")
        axes.set_ylim(0, 1.05 * max(1 - 1 / inputs, *bounds))
