"""A record for the registry of differential-privacy deployments, from what is proved of a plan.

The fields, their tiers and their enumerations are those of the registry's published schema, commit
3e9c812 of 2026-07-15: https://github.com/opendp/deployments-registry-data, file
schemas/deployments-schema.yaml (MIT licence), which rests on nanayakkara2025
(https://arxiv.org/abs/2509.13509). The sentences are ours.

The schema requires some facts that no plan states. Where it permits, they are empty; the date of
publication must be a date, and is then the one of the registry's own template, 1900-01-01. The
record's notes and `unknown_fields` name all of them.
"""

import json
import math
import re
from datetime import date
from importlib.metadata import version
from typing import Any

from croupier.assessment.ladder.gaussian import NO_MU, GaussianRow
from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.table import who_is_looking
from croupier.documents.dpia.gaps import record_of
from croupier.documents.explain.asked import asked_rows, collection_facts
from croupier.documents.explain.people.parties import added
from croupier.documents.explain.sentences import proved_for
from croupier.documents.explain.trust_words import operators, trusted
from croupier.errors import ParameterError
from croupier.model.rung import Rung
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.plan import Plan

__all__ = ["SCHEMA", "UNKNOWN_DATE", "registry_record", "unknown_fields"]

SCHEMA = (
    "https://github.com/opendp/deployments-registry-data/blob/"
    "3e9c812a924cf01d228f26f6c462c59c391c3f2a/schemas/deployments-schema.yaml"
)
"""The schema that a record follows."""

UNKNOWN_DATE = "1900-01-01"
"""The date in the registry's template, where one is still to be filled in."""

_PRODUCTS = {"sorted": "Dataset", "released-order": "Dataset"}


def registry_record(
    ladder: Ladder, gaussian: GaussianRow, *, published: date | None = None, region: str = ""
) -> dict[str, Any]:
    """Return the record: a draft of tier 3 about the headline of the ladder.

    Direction: epsilon and mu are rounded up, the misses of the trade-off curve down.

    Raises:
        ParameterError: Nothing is proved, or nothing is published.

    Args:
        ladder: What `assess` proved about the plan.
        gaussian: Mu and the trade-off curve of the ladder's headline.
        published: When the figures were first published.
        region: Whose figures they are, or whose law applies.
    """
    plan = ladder.plan
    if ladder.headline.epsilon is None:
        raise ParameterError(
            "plan", must="have a proved epsilon to be recorded", got=str(ladder.headline.rung)
        )
    if plan.analyzer.publication == "none":
        raise ParameterError("analyzer.publication", must="not be none: a record is of a release")
    record: dict[str, Any] = {
        "url_slug": "",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": _basic(plan, published, region),
            "dp_variant": _variant(plan),
            "privacy_loss": _privacy_loss(ladder, gaussian),
            "deployment_model": _model(plan),
            "accounting": _accounting(ladder),
            "implementation": _implementation(ladder),
            "administrative": {"sources": "", "notes": "", "registry_authors": [""]},
        },
    }
    record["url_slug"] = _slug(record["deployment"]["basic"])
    open_fields = ", ".join(unknown_fields(record))
    record["deployment"]["administrative"]["notes"] = (
        f"Written by croupier {version('croupier')} from a plan, digest {plan.digest}. "
        f"To fill in: {open_fields}."
    )
    return record


def unknown_fields(record: dict[str, Any]) -> list[str]:
    """List the fields that a person must fill in, such as `basic.data_product_region`."""
    found = []
    for section, fields in record["deployment"].items():
        for name, value in fields.items():
            if value in ("", [""], UNKNOWN_DATE) and name != "notes":
                found.append(f"{section}.{name}")
    return found


def _basic(plan: Plan, published: date | None, region: str) -> dict[str, Any]:
    controller = record_of(plan).controller
    questions = " ".join(question.text for question in plan.questions if question.text)
    facts = collection_facts(plan)
    return {
        "name": plan.headline,
        "data_curators": [controller or ""],
        "intended_use": plan.purpose or "",
        "data_product_type": _PRODUCTS.get(plan.analyzer.publication, "Summary statistics"),
        "data_product_region": region,
        "description": f"{questions} Published: {facts['Published']}.".strip(),
        "publication_date": published.isoformat() if published else UNKNOWN_DATE,
    }


def _variant(plan: Plan) -> dict[str, Any]:
    asked = "; ".join(f"{row.name}: {row.answers}" for row in asked_rows(plan))
    return {
        "variant_name": "Approximate DP",
        "data_domain": f"Answers to choose from. {asked}.",
        "unprotected_quantities": "Who takes part, when, and how many people do.",
    }


def _privacy_loss(ladder: Ladder, gaussian: GaussianRow) -> dict[str, Any]:
    plan, proved = ladder.plan, ladder.headline.epsilon
    parameters: dict[str, Any] = {}
    if proved is not None:
        parameters = {
            "epsilon": float(ceiling_digits(proved.value)),
            "delta": plan.guarantee.delta,
        }
    return {
        "privacy_unit": "Person",
        "privacy_unit_details": "Replace-one: the same people, with the answers of one person "
        f"replaced in all rounds; a person answers in at most {plan.reports:,}.",
        "privacy_parameters": parameters,
        "privacy_parameters_details": _details(ladder, gaussian),
    }


def _details(ladder: Ladder, gaussian: GaussianRow) -> str:
    rung = Rung(ladder.headline.rung)
    mu = f"mu = {ceiling_digits(gaussian.mu)}" if gaussian.bounded else NO_MU
    local = ladder.plan.epsilon_local
    alone = f"epsilon at most {ceiling_digits(local)}" if math.isfinite(local) else "no epsilon"
    curve = json.dumps([list(point) for point in gaussian.trade_off])
    told = [
        f"Against: {rung}, {who_is_looking(ladder.plan, rung)}.",
        proved_for(ladder.plan),
        f"Each report alone: {alone} (local).",
        f"Gaussian differential privacy, all epsilons at once: {mu}.",
        f"Trade-off curve, [false positive rate, least false negative rate]: {curve}.",
        *(
            f"Epsilon against {row.rung}: {ceiling_digits(row.epsilon.value)}."
            if row.epsilon
            else f"Epsilon against {row.rung}: not bounded."
            for row in ladder
        ),
    ]
    return " ".join(told)


def _model(plan: Plan) -> dict[str, Any]:
    facts = collection_facts(plan)
    # One batch per person may still be one of many releases: then the plan does not say.
    known = {"release_type": "Many releases"} if plan.batches > 1 else {}
    actors = [f"{rung}: {trusted(plan, rung).relies_on}" for rung in plan.rungs]
    local = plan.operators == "same" and len(plan.shufflers) == 1
    return {
        "model_name": "Local" if local else "Shuffle",
        "model_name_details": operators(plan),
        "actors": "Against each adversary must be trusted: " + " ".join(actors),
        **known,
        "release_type_details": f"{facts['How often']}. Released: {facts['Released']}.",
        "access_type": "Interactive" if plan.asks_by_query else "Non-interactive",
    }


def _accounting(ladder: Ladder) -> dict[str, Any]:
    proved = ladder.headline.epsilon
    plan = ladder.plan
    return {
        "post_processing": f"{_estimates(plan)} Published: {collection_facts(plan)['Published']}.",
        "composition": _once(plan)
        if plan.reports == 1
        else f"{plan.reports:,} rounds of one person, {plan.participation.noise} noise"
        + (f": {proved.theorem}." if proved else "."),
    }


def _estimates(plan: Plan) -> str:
    told = added(plan)
    if not told:
        return "The analyzer estimates from noisy reports."
    return f"{told[0].upper()}{told[1:]} from each count."


def _once(plan: Plan) -> str:
    sent = "sends one report" if plan.batches == 1 else "answers once; other reports are empty"
    return f"None: a person {sent}."


def _implementation(ladder: Ladder) -> dict[str, Any]:
    plan, proved = ladder.plan, ladder.headline.epsilon
    asked = "; ".join(f"{row.name}: {row.noise}" for row in asked_rows(plan))
    return {
        "preprocessing_and_hyperparameter_tuning": "",
        "mechanisms": f"{asked}. Software: croupier {version('croupier')}. Reports are padded to "
        f"{plan.protections.report_size:,} bytes and sealed.",
        "justification": "" if proved is None else f"Proved: {proved.theorem}.",
    }


def _slug(basic: dict[str, Any]) -> str:
    """Name the record as the registry does: name, curators and year."""
    year = basic["publication_date"].partition("-")[0]
    parts = (basic["name"], "-".join(basic["data_curators"]), year)
    return "-".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-")
