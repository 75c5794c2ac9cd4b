"""`croupier keys sign`: sign the keys that a party uses for a plan."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from croupier.analyzer.keys import ANALYZER, AnalyzerKeys
from croupier.cli.keys.roles import Role, RoleDirectory, directory_of
from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.options.policy import PolicyFile, read_policy
from croupier.cli.options.signed_keys import beside, for_the_operator
from croupier.cli.output.terminal import Json, out, print_json, progress
from croupier.errors import ParameterError, PolicyError, UntrustedError
from croupier.issuer.keys import IssuerRootKeys
from croupier.plan.plan import Plan
from croupier.plan.policy import Policy
from croupier.protocol import durable
from croupier.protocol.admission.token_keys import TokenKeys, UnsignedTokenKeys
from croupier.protocol.key_directory import passphrase
from croupier.protocol.key_list import AnalyzerKey, PolicyWord
from croupier.protocol.party_keys import ShufflerKeys, hop_of
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.signed_document import LAST_ROUND
from croupier.shuffler.root import RootKeys

__all__ = ["HELP", "FromRound", "command"]

HELP = """Sign the keys that a party uses for a plan: shuffler, analyzer or issuer.

shuffler: signs the list of the keys of release and intake, from their public.json, with the root
that the plan names. If the output exists already, it gets its next version: new keys count from
--from-round on. Give it to whoever runs croupier serve and croupier release. Each of two shufflers
signs a list of its own, in a file of its own: its root says which of them it is.

analyzer: signs what reports are sealed to, and whether the plan's policy is met, as croupier check
finds it, with --policy FILE also the limits of an organisation: no service starts without it, or
for another policy or population. Exits with 4, and signs nothing, if a limit is not met or none is
set; --despite-policy signs anyway, and everybody who reads the file sees that. Give it to whoever
runs the shuffler.

issuer: signs the list of token keys that croupier issuer keys made, one per round. If the output
exists already, it gets its next version, in which no round changes its key. Give it to whoever
runs croupier serve and croupier issuer serve.

Example: croupier keys sign analyzer plan.toml --keys keys/analyzer -o analyzer.json

Example: croupier keys sign shuffler plan.toml --release release.json --intake intake.json
"""


class Party(StrEnum):
    """The parties whose root the plan names."""

    SHUFFLER = "shuffler"
    ANALYZER = "analyzer"
    ISSUER = "issuer"


FromRound = Annotated[
    int | None, typer.Option(help="The first round that new keys count for.", min=1, max=LAST_ROUND)
]


def command(
    party: Annotated[Party, typer.Argument(help="shuffler, analyzer or issuer.", metavar="PARTY")],
    plan: PlanFile,
    keys: RoleDirectory = None,
    release: Annotated[
        Path, typer.Option(help="shuffler: public.json of release.", metavar="FILE")
    ] = Path("keys/release"),
    intake: Annotated[
        Path, typer.Option(help="shuffler: public.json of intake.", metavar="FILE")
    ] = Path("keys/intake"),
    tokens: Annotated[
        Path, typer.Option(help="issuer: the file from croupier issuer keys.", metavar="FILE")
    ] = Path("keys/tokens/token-keys.json"),
    from_round: FromRound = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write. Default: PARTY.json beside the plan.",
            metavar="FILE",
        ),
    ] = None,
    passphrase_file: PassphraseFile = None,
    policy: PolicyFile = None,
    despite_policy: Annotated[
        bool,
        typer.Option(
            "--despite-policy",
            help="analyzer: sign although the policy is not met, and record that.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Sign the keys of a party."""
    made = read_plan(plan)
    target = beside(plan, output, f"{party}.json")
    place = directory_of(Role(party), keys)
    phrase = passphrase(passphrase_file)
    if party is Party.ANALYZER:
        document = _sign_analyzer(
            made,
            plan,
            AnalyzerKeys(place, phrase),
            target,
            read_policy(policy),
            despite=despite_policy,
            json=json,
        )
    elif party is Party.ISSUER:
        document = _sign_issuer(made, IssuerRootKeys(place, phrase), tokens, target, json=json)
    else:
        document = _sign_shuffler(
            made, RootKeys(place, phrase), (release, intake), target, from_round, json=json
        )
    if json:
        print_json(output=str(target), plan_digest=made.digest, **document)


def _sign_shuffler(
    plan: Plan,
    root: RootKeys,
    public: tuple[Path, Path],
    target: Path,
    from_round: int | None,
    *,
    json: bool,
) -> dict[str, object]:
    release = PublicKeys.load(public[0], role="release", option="--release")
    intake = PublicKeys.load(public[1], role="intake", option="--intake")
    signer = root.signer()
    ShufflerKeys.require_signer(plan, signer)
    if not target.exists():
        if from_round is not None:
            raise ParameterError(
                "--from-round",
                must=f"be left out for the first list of a plan: {target} does not exist",
                hint="A first list counts from round 0. Name with -o the list that new keys are to "
                "be added to: clients who have seen one refuse another first list.",
            )
        signed = ShufflerKeys.first(plan, release=release, intake=intake, signing_key=signer)
    elif from_round is None:
        raise ParameterError(
            "--from-round",
            must=f"be given, since {target} exists already",
            hint="It is the first round that is not open yet: croupier release prints the open "
            "one.",
        )
    else:
        with for_the_operator("--output", target, "name another file with -o"):
            before = ShufflerKeys.read(target.read_bytes())
            hop_of(before, plan)
            signed = before.next(
                plan, release=release, intake=intake, from_round=from_round, signing_key=signer
            )
    durable.publish(target, signed.to_bytes() + b"\n")
    hop, two = hop_of(signed, plan), len(plan.shufflers) > 1
    if not json:
        which = f"the {('first', 'second')[hop]} shuffler's" if two else "its"
        out.print(
            f"Wrote {target}: plan {plan.digest[:8]}, version {signed.version} of {which} list."
        )
        out.print("Give it to whoever runs croupier serve and croupier release (--shuffler).")
    return ({"shuffler": hop + 1} if two else {}) | {
        "version": signed.version,
        "release": [entry.model_dump() for entry in signed.release],
        "intake": [entry.model_dump() for entry in signed.intake],
    }


def _sign_analyzer(
    plan: Plan,
    file: Path,
    directory: AnalyzerKeys,
    target: Path,
    policy: Policy | None,
    *,
    despite: bool,
    json: bool,
) -> dict[str, object]:
    key, signing_key = directory.sealing_key(ANALYZER), directory.signing_key(ANALYZER)
    AnalyzerKey.require_signer(plan, signing_key)
    with progress("Proving", total=None, quiet=json):
        word = _judge(plan, file, policy, despite_policy=despite)
    signed = AnalyzerKey.make(plan, key=key, signing_key=signing_key, policy=word)
    durable.publish(target, signed.to_bytes() + b"\n")
    if not json:
        out.print(f"Wrote {target}: plan {plan.digest[:8]}, key {signed.key[:16]}…")
        out.print(f"Signed with it: {word}.")
        out.print("Give it to whoever runs croupier serve and croupier release (--analyzer).")
    return {
        "key": signed.key,
        "policy": word.judgement,
        "despite_policy": word.despite_policy,
    }


def _sign_issuer(
    plan: Plan, root: IssuerRootKeys, tokens: Path, target: Path, *, json: bool
) -> dict[str, object]:
    try:
        made = UnsignedTokenKeys.model_validate_json(tokens.read_bytes())
    except (OSError, ValidationError):
        made = None
    if made is None or made.plan != plan.digest:
        raise ParameterError(
            "--tokens",
            must="be the token keys of this plan",
            got=str(tokens),
            hint="Make them: croupier issuer keys.",
        )
    signer = root.signer()
    TokenKeys.require_signer(plan, signer)
    with for_the_operator("--output", target, "name another file with -o"):
        earlier = TokenKeys.verified(target.read_bytes(), plan) if target.exists() else None
    try:
        signed = TokenKeys.make(
            plan, first=made.first, keys=made.blind_keys, signing_key=signer, earlier=earlier
        )
    except UntrustedError as error:
        raise ParameterError(
            "--tokens",
            must=f"keep the keys of rounds that {target} lists",
            got=str(tokens),
            hint=f"It {error.problem}. Put the missing keys back, or list later rounds only: "
            "croupier issuer keys --from-round.",
        ) from None
    durable.publish(target, signed.to_bytes() + b"\n")
    rounds = f"rounds {signed.rounds[0]} to {signed.rounds[-1]}"
    if not json:
        out.print(f"Wrote {target}: plan {plan.digest[:8]}, version {signed.version}, {rounds}.")
        out.print("Give it to whoever runs croupier serve and croupier issuer serve (--issuer).")
    return {"version": signed.version, "first": signed.first, "rounds": len(signed.keys)}


def _judge(plan: Plan, file: Path, policy: Policy | None, *, despite_policy: bool) -> PolicyWord:
    """Prove whether the policy is met; stop if it is not, unless told to sign despite it."""
    from croupier.assessment.ladder.ladder import assess  # noqa: PLC0415 - other keys need no proof
    from croupier.assessment.policy import checked  # noqa: PLC0415 - as above

    found = checked(assess(plan), policy)
    if not despite_policy:
        try:
            found.require_met()
        except PolicyError as error:
            raise PolicyError(
                f"{error.problem}. Nothing was signed",
                hint=f"Change the plan, croupier check {file} says how; or sign that it runs "
                "anyway: --despite-policy.",
            ) from None
    organisation = None if policy is None else policy.digest
    return PolicyWord.on(
        plan, found.judgement, despite_policy=despite_policy, organisation=organisation
    )
