"""Facts that an impact assessment needs and a plan does not state."""

from collections.abc import Mapping
from types import MappingProxyType

from croupier.documents.dpia.written import Written, to_fill_in
from croupier.plan.plan import Plan
from croupier.plan.sections import RecordSection

__all__ = ["GAPS", "record_of", "responsible", "stated"]

GAPS: Mapping[str, Written] = MappingProxyType(
    {
        name: to_fill_in(what)
        for name, what in {
            "people": "who the people are, and whether children or others in need of special "
            "protection are among them",
            "special": "whether an answer reveals health, beliefs, origin or another special "
            "category of data (Article 9 GDPR)",
            "region": "in which countries people are asked",
            "relation": "what people expect, how the controller stands to them, and whether they "
            "are free to refuse",
            "concerns": "earlier concerns about such processing, and the state of the art",
            "necessity": "why the purpose needs these answers from so many people",
            "alternatives": "which less intrusive ways were considered, and why they do not "
            "suffice",
            "information": "how people are told before they answer",
            "transfers": "whether reports or batches leave the country, and with what safeguards",
            "consulted": "views of the people concerned or their representatives, or why they were "
            "not asked",
            "officer": "advice of the data protection officer",
            "experts": "processors and experts who were consulted",
            "likelihood": "remote, possible or probable",
            "severity": "minimal, significant or severe",
            "overall": "low, medium or high",
            "measures": "measures outside the plan: access, training, contracts with processors, "
            "incident response",
            "accepted": "which residual risks are accepted, by whom and why",
            "authority": "whether a high risk remains, so that the supervisory authority must be "
            "consulted first",
        }.items()
    }
)
"""Facts that no plan states, and a person must."""


def stated(fact: str | None, otherwise: str) -> str:
    """Return a fact of the plan, or the line that asks for it.

    >>> stated("Example Inc.", "who decides"), stated(None, "who decides")
    ('Example Inc.', '**TO FILL IN:** who decides')
    """
    return fact or to_fill_in(otherwise)


def record_of(plan: Plan) -> RecordSection:
    """Return the plan's record, empty where it has none."""
    return plan.record or RecordSection()


def responsible(plan: Plan) -> dict[Written, str]:
    """Say who answers for the collection; what the record leaves out is to be filled in."""
    record = record_of(plan)
    processors = "; ".join(record.processors or ())
    reviewed = str(record.date) if record.date else None
    return {
        Written("Controller"): stated(record.controller, "who decides what is collected and why"),
        Written("Processors"): stated(processors, "who handles reports on the controller's behalf"),
        Written("Contact"): stated(record.contact, "whom people can ask"),
        Written("Record reviewed"): stated(reviewed, "when the facts were last reviewed"),
    }
