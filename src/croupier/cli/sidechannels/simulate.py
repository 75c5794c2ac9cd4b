"""`croupier sidechannels simulate`: the attacks, played out."""

from fractions import Fraction
from typing import Annotated

import typer

from croupier.auditing.attacks.sidechannels import (
    Simulated,
    simulate_cardinality,
    simulate_participation,
)
from croupier.cli.options.mechanism import count
from croupier.cli.output.terminal import Json, out, print_json, print_table, progress
from croupier.cli.sidechannels.models import compared
from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream
from croupier.numerics.rounding import ceiling_digits, nearest_digits
from croupier.randomizers.delta_summation import DeltaSummation
from croupier.sidechannels.participation import Observed

__all__ = ["HELP", "command"]

HELP = """Play side-channel attacks: print how often the best one guesses a bit, beside the proof.

Everybody answers by binary randomized response; the attacker knows everybody else. The row
"Delta-summation" guesses from the number of messages of a protocol that sends several.

Example: croupier sidechannels simulate --n 1e4 --rounds 60 --max-epsilon-local 2 --insecure-seed 1
"""


def command(
    n: Annotated[int, typer.Option(parser=count, metavar="N", help="People.")],
    max_epsilon_local: Annotated[float, typer.Option(help="Local epsilon, in nats.")],
    rounds: Annotated[int, typer.Option(parser=count, metavar="K", help="Rounds.")] = 60,
    lengths: Annotated[
        int, typer.Option(parser=count, metavar="N", help="Equally likely lengths of a message.")
    ] = 7,
    games: Annotated[int, typer.Option(parser=count, metavar="N", help="Games per row.")] = 100_000,
    confidence: Annotated[float, typer.Option(help="Coverage of the intervals.")] = 0.95,
    insecure_seed: Annotated[int | None, typer.Option(help="Seed that repeats the games.")] = None,
    json: Json = False,
) -> None:
    """Play side-channel attacks."""
    if lengths < 1:
        raise ParameterError("--lengths", must="be at least 1", got=lengths)
    rng = Keystream(insecure_seed=insecure_seed)
    played: list[tuple[str, str, Simulated]] = []
    models = compared(n=n, rounds=rounds)
    with progress("Playing", total=3 * len(models), quiet=json) as advance:
        for model in models:
            for observed in Observed:
                advance(1)
                if model.sampled and observed is Observed.NOTHING:
                    continue
                found = simulate_participation(
                    model,
                    n=n,
                    epsilon_local=max_epsilon_local,
                    observed=observed,
                    games=games,
                    rng=rng,
                    lengths=[Fraction(1, lengths)] * lengths,
                    confidence=confidence,
                )
                played.append((model.model, str(observed), found))
    protocol = DeltaSummation(n=n, epsilon=1.0, delta=0.01 / n, gamma=0.1)
    counted = simulate_cardinality(protocol, games=games, rng=rng, confidence=confidence)
    played.append(("Delta-summation", "number of messages", counted))
    if json:
        print_json(
            refuted=any(found.refuted for _, _, found in played),
            attacks=[
                {
                    "model": model,
                    "attack": attack,
                    "metric": str(found.evidence.metric),
                    "proved_upper": found.proved_upper,
                    "predicted": found.predicted,
                    "measured": found.evidence.measured,
                    "interval": [found.evidence.lower, found.evidence.upper],
                    "confidence": confidence,
                    "games": games,
                    "refuted": found.refuted,
                }
                for model, attack, found in played
            ],
        )
        return
    rows = [
        [
            model,
            attack,
            ceiling_digits(found.proved_upper, 4),
            "-" if found.predicted is None else nearest_digits(found.predicted, 4),
            _interval(found),
        ]
        for model, attack, found in played
    ]
    sure = f"{100 * confidence:g} %"
    print_table(
        ["model", "seen", "proved <=", "predicted", f"measured [{sure}]"], rows, right=(2, 3)
    )
    out.print()
    refuted = sum(found.refuted for _, _, found in played)
    verdict = f"{refuted} proofs refuted" if refuted else "No proof refuted"
    out.print(f"{verdict} (false alarm 1e-6 per row); {games:,} games per row.")
    out.print("Evidence: it meets no policy.")


def _interval(found: Simulated) -> str:
    seen = found.evidence
    return f"{seen.measured:.4f} [{seen.lower:.4f}, {seen.upper:.4f}]"
