"""Key directories of every role in one folder, for trials only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from croupier.analyzer.keys import ANALYZER, AnalyzerKeys
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol.key_list import AnalyzerKey, PolicyWord
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.signed_document import public_half
from croupier.shuffler.handover import Handover
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.root import RootKeys

__all__ = ["House", "two_houses"]


@dataclass(frozen=True)
class House:
    """The keys of all roles in `keys`, where the commands look for them."""

    folder: Path
    root: RootKeys
    release: ReleaseKeys
    intake: IntakeKeys
    analyzer: AnalyzerKeys
    handover: Handover

    @classmethod
    def at(cls, folder: Path, phrase: bytes) -> Self:
        """The directories in a folder, which need not exist yet."""
        keys = folder / "keys"
        return cls(
            folder,
            RootKeys(keys / "shuffler", phrase),
            ReleaseKeys(keys / "release", phrase),
            IntakeKeys(keys / "intake", phrase),
            AnalyzerKeys(keys / "analyzer", phrase),
            Handover(keys / "handover"),
        )

    def create(self) -> dict[str, object]:
        """Make all keys; return the tables of a plan that name the roots."""
        self.release.create()
        self.intake.create()
        return {
            "shufflers": [{"key": self.root.create().key}],
            "analyzer": {"key": self.analyzer.create().key},
        }

    def listed(self, plan: Plan) -> ShufflerKeys:
        """Sign the list of the shuffler's keys for a plan."""
        load = PublicKeys.load
        return ShufflerKeys.first(
            plan,
            release=load(self.release.path, role="release", option="release"),
            intake=load(self.intake.path, role="intake", option="intake"),
            signing_key=self.root.signer(),
        )

    def sign(self, plan: Plan, *, into: Path | None = None) -> ShufflerKeys:
        """Write the plan, and the documents that both roots sign for it.

        Args:
            plan: The plan.
            into: The folder of the plan, if it is not that of the keys.
        """
        folder = into or self.folder
        listed = self.listed(plan)
        word = PolicyWord.on(plan, Judgement.NO_LIMIT, despite_policy=True)
        sealing, signer = (
            self.analyzer.sealing_key(ANALYZER),
            self.analyzer.signing_key(ANALYZER),
        )
        analyzer = AnalyzerKey.make(plan, key=sealing, signing_key=signer, policy=word)
        (folder / "plan.toml").write_text(plan.to_toml())
        (folder / "shuffler.json").write_bytes(listed.to_bytes())
        (folder / "analyzer.json").write_bytes(analyzer.to_bytes())
        return listed


def two_houses(folder: Path, phrase: bytes, tables: dict[str, Any], **section: Any) -> list[House]:
    """Make the keys of two shufflers, and the plan and signed files that each of them has.

    Args:
        folder: That of the first; the second one's is `second` in it.
        phrase: The passphrase of all keys.
        tables: The tables of the plan, without [[shufflers]] and [analyzer].
        section: What both tables of [[shufflers]] say besides their keys.
    """
    inside = folder / "second"
    inside.mkdir(exist_ok=True)
    first, second = House.at(folder, phrase), House.at(inside, phrase)
    roots = first.create()
    second.release.create()
    second.intake.create()
    keys = [public_half(first.root.signer()), second.root.create().key]
    plan = Plan.from_document(
        tables | roots | {"shufflers": [{"key": key} | section for key in keys]}
    )
    first.sign(plan)
    (inside / "shuffler.json").write_bytes(second.listed(plan).to_bytes())
    for name in ("plan.toml", "analyzer.json"):
        (inside / name).write_bytes((folder / name).read_bytes())
    return [first, second]
