"""The commands of two operators whose shufflers follow each other."""

import time
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.model.judgement import Judgement
from croupier.protocol.key_list import AnalyzerKey, PolicyWord
from croupier.protocol.party_keys import Signers
from croupier.protocol.signed_document import public_half
from croupier.shuffler.openings import signed_opening
from croupier.shuffler.release import run
from croupier.shuffler.release.successor import Successor
from tests.conftest import fresh_database
from tests.unit.chain import Chain

SENT = [0, 0, 0, 1, 1, 2, 0, 3]


class Operators(Chain):
    """Two operators; each has a plan, signed files, keys and an output in a folder of its own."""

    def __init__(self, croupier, first, second, root):
        self.croupier, self.signer = croupier, Ed25519PrivateKey.generate()
        tables = {
            "collection": {"every": "1s"},
            "analyzer": {"key": public_half(self.signer)},
            "protections": {"minimum_batch": 5, "disposal_age": "72h"},
        }
        super().__init__(first, second, root, **tables)
        self.folders = {"first": root / "first", "second": root / "second"}
        for name, side in (("first", self.first), ("second", self.second)):
            (self.folders[name] / "plan.toml").write_text(self.plan.to_toml())
            (self.folders[name] / "shuffler.json").write_bytes(side.listed.to_bytes())
        self.sign_analyzer()

    def sign_analyzer(self):
        """Give both operators the analyzer's signed key."""
        signed = AnalyzerKey.make(
            self.plan,
            key=self.analyzer,
            signing_key=self.signer,
            policy=PolicyWord.on(self.plan, Judgement.NO_LIMIT, despite_policy=True),
        )
        for folder in self.folders.values():
            (folder / "analyzer.json").write_bytes(signed.to_bytes())

    def replace_analyzer(self):
        self.analyzer = X25519PrivateKey.generate()
        self.sign_analyzer()

    def release(self, name, *more):
        """Release as the operator of one of the two does."""
        folder = self.folders[name]
        side = self.first if name == "first" else self.second
        place = {"first": "--to", "second": "--from"}[name]
        other = self.second if name == "first" else self.first
        named = {"--plan": "plan.toml", "--keys": "keys/release", "--handover": "keys/handover"}
        files = [part for option, file in named.items() for part in (option, folder / file)]
        given = [*files, "-o", side.out, place, other.out, "--database", side.database]
        return self.croupier("release", *given, "--processes", "1", *more)

    def open(self, *names):
        """Open the next round with the analyzer's newest key, the second shuffler first."""
        for name in names or ("second", "first"):
            file = self.folders[name] / "analyzer.json"
            opened = self.release(name, "--next-round", "--analyzer", file)
            assert opened.code == 0, opened.err
        return opened

    def collect(self, reports=SENT):
        """Send reports for the round that the first shuffler has opened, and wait for its end."""
        batches = self.first.with_store(lambda store: store.batches(self.plan.digest))
        opening = signed_opening(batches[0], Signers.of(self.plan, self.first.listed))
        self.epochs[batches[0].round_number] = opening.epoch(self.plan)
        self.send(batches[0], reports)
        time.sleep(1)

    def status(self, name, *more):
        side = self.first if name == "first" else self.second
        given = ("--plan", self.folders[name] / "plan.toml", "--database", side.database)
        return self.croupier("status", *given, "--keys", side.keys.path, *more)


@pytest.fixture
def operators(croupier, database, tmp_path, monkeypatch):
    monkeypatch.setenv("CROUPIER_PASSPHRASE", "a passphrase")
    with fresh_database() as other:
        yield Operators(croupier, database, other, tmp_path)


class TestAReplacedKeyOfTheAnalyzer:
    """Rounds that are open keep the key that they were opened for."""

    @staticmethod
    def replaced(operators):
        operators.open()
        operators.open("second")  # one round ahead
        operators.replace_analyzer()

    def test_the_second_shuffler_names_the_rounds_of_the_old_key(self, operators):
        self.replaced(operators)
        said = operators.release("second")
        assert said.code == 0
        assert "Warning: The reports of rounds 0, 1 are sealed to another key" in said.err
        assert operators.release("second", "--json").document["warnings"]

    def test_nothing_is_said_as_long_as_the_key_is_the_same(self, operators):
        operators.open()
        assert "Warning" not in operators.release("second").err
        assert operators.release("second", "--json").document["warnings"] == []

    def test_a_round_ahead_is_opened_for_the_old_key_and_the_next_one_for_the_new(self, operators):
        self.replaced(operators)
        operators.collect()
        assert operators.release("first").code == 0
        assert operators.release("second").code == 0
        file = operators.folders["first"] / "analyzer.json"
        refused = operators.release("first", "--next-round", "--analyzer", file)
        assert refused.code == 2
        assert "leave --analyzer out" in refused.err.replace("\n", " ")
        assert operators.release("first", "--next-round").code == 0
        operators.collect()
        operators.open("second")
        operators.release("first")
        said = operators.open("first")
        sealed_to = operators.sealed_to.hex()[:16]
        assert f"OPEN  round 2: reports sealed to the analyzer's key {sealed_to}" in said.out


class TestStatusAtTheSecond:
    """It has no service, and waits for the first one as long as that takes."""

    def test_no_service_is_missed_and_no_reports_are_counted(self, operators):
        operators.open()
        nowhere = ("--server", "http://127.0.0.1:1")
        said = operators.status("second", *nowhere)
        assert said.code == 0, said.out
        assert "READY" in said.out
        assert "0: open, and not taken over yet" in said.out
        assert "of the minimum" not in said.out
        assert operators.status("first", *nowhere).code == 1

    def test_no_service_is_missed_before_the_first_round(self, operators):
        said = operators.status("second", "--json").document
        assert [each["incident"] for each in said["plans"][0]["incidents"]] == ["no-round"]
        assert not said["incidents"]

    def test_a_batch_that_waits_for_the_first_is_never_too_old(self, operators):
        operators.open()
        with psycopg.connect(operators.second.database) as connection:
            connection.execute("UPDATE croupier.batches SET opened = opened - interval '30 days'")
        said = operators.status("second", "--json").document
        assert said["plans"][0]["incidents"] == []

    def test_what_was_taken_over_is_shown(self, operators):
        for _ in range(2):
            operators.open()
            operators.collect()
            operators.release("first")
            operators.release("second")
        assert "taken over 2 batches, last that of round 1" in operators.status("second").out
        said = operators.status("second", "--json").document["plans"][0]
        assert (said["taken_over"], said["last_taken_over"]) == (2, 1)

    def test_a_refused_hand_over_is_shown_until_it_is_set_right(self, operators):
        operators.open()
        operators.collect()
        operators.release("first")
        (path,) = operators.first.out.glob("*.parquet")
        data = path.read_bytes()
        path.unlink()
        assert operators.release("second").code == 4
        said = operators.status("second", "--json")
        (told,) = said.document["plans"][0]["incidents"]
        assert (said.code, told["incident"]) == (1, "hand-over")
        assert "round 0 is refused: The first shuffler's hand-over lacks" in told["cause"]
        path.write_bytes(data)
        assert operators.release("second").code == 0
        said = operators.status("second", "--json")
        assert (said.code, said.document["plans"][0]["incidents"]) == (0, [])

    @pytest.mark.parametrize("name", ["outer.pem", "noise.key"])
    def test_a_secret_of_any_open_round_is_missed(self, operators, name):
        operators.open()
        operators.open("second")
        oldest = min(
            operators.second.with_store(lambda store: store.batches(operators.plan.digest)),
            key=lambda batch: batch.round_number,
        )
        assert operators.status("second").code == 0
        (operators.second.keys.path / "batches" / oldest.identity.hex() / name).unlink()
        said = operators.status("second", "--json")
        (told,) = said.document["plans"][0]["incidents"]
        assert (said.code, told["incident"]) == (1, "batch-key")
        assert "of the batch of round 0 is not in the key directory" in told["cause"]
        assert said.document["keys"][0]["missing_rounds"] == [0]

    def test_a_list_of_the_first_that_cannot_be_read_is_told(self, operators):
        operators.open()
        operators.collect()
        operators.release("first")
        operators.release("second")
        (path,) = (operators.second.keys.path / "lists").glob("*.json")
        assert operators.status("second").code == 0
        path.write_text("{")
        said = operators.status("second", "--json")
        (told,) = said.document["plans"][0]["incidents"]
        assert said.code == 1
        assert f"{path.name} cannot be read" in told["cause"]
        assert "put it back" in told["cause"]

    def test_rounds_for_a_replaced_key_of_the_analyzer_are_shown(self, operators):
        operators.open()
        said = operators.status("second", "--json").document["plans"][0]
        assert said["rounds_for_another_analyzer_key"] == []
        operators.replace_analyzer()
        assert "round 0: sealed to another key than" in operators.status("second").out


class TestWhyTheSecondHolds:
    """The line about a held batch says what keeps it."""

    @pytest.fixture
    def handed_over(self, operators):
        operators.open()
        said = operators.release("second")
        assert "not handed over by the first shuffler; nothing released." in said.out
        operators.collect()
        operators.release("first")
        return operators

    def test_its_own_key_is_missing(self, handed_over):
        (key,) = handed_over.second.keys.path.glob("batches/*/outer.pem")
        key.unlink()
        said = handed_over.release("second")
        assert said.code == 4
        assert "its key is missing or damaged; " in said.out
        assert "not handed over" not in said.out

    def test_receipts_of_the_first_cannot_be_believed(self, handed_over):
        (path,) = handed_over.first.out.glob("*.receipt.json")
        path.write_text(path.read_text().replace('"number":0', '"number":1'))
        said = handed_over.release("second")
        assert said.code == 4
        assert "what lies at --from cannot be believed; nothing released." in said.out


def test_the_first_says_why_it_holds_what_the_second_lost(operators):
    with operators.second.copied() as older:
        operators.open()
        operators.collect()
        operators.second.database = older
        side, folder = operators.second, operators.folders["second"]
        given = ["--plan", folder / "plan.toml", "--keys", side.keys.path, "-o", side.out]
        given += ["--handover", side.handover.path, "--database", older, "--yes"]
        said = operators.croupier("recover", *given)
        assert said.out.endswith("release --next-round --analyzer FILE --from PLACE\n"), said.err
        said = operators.release("first")
        assert said.code == 4
        assert "UTC unless it is released before." in said.out
        assert "has signed that it lost the round" in said.out.replace("\n", " ")


def test_each_warns_of_what_the_other_shows(operators, monkeypatch):
    operators.open()
    monkeypatch.setattr(Successor, "warnings", lambda *_: iter(["The second is odd."]))
    said = operators.release("first")
    assert (said.code, said.err) == (0, "Warning: The second is odd.\n")
    monkeypatch.setattr(run, "in_vain", lambda *_: [7])
    said = operators.release("second")
    assert said.code == 0
    assert "Warning: The first shuffler hands over round 7, which was disposed of" in said.err


class TestReceiptsOfBoth:
    """Each shuffler has a chain of receipts; the second one publishes receipts of the first too."""

    @pytest.fixture
    def verify(self, operators):
        """Three rounds, of which the second shuffler did not take over the one in the middle."""
        for number in range(3):
            batch = operators.open_round()
            operators.send(batch, SENT if number != 1 else SENT[:2])
            operators.release_first(now=datetime.now(UTC) + timedelta(days=30))
            operators.release_second()
        plan = operators.folders["first"] / "plan.toml"

        def run(*files):
            return operators.croupier("receipt", "verify", *files, "--plan", plan)

        return run

    def test_those_that_were_taken_over_are_valid_by_the_list_beside_them(self, operators, verify):
        said = verify(*operators.second.out.glob("*.taken-over.json"))
        assert said.code == 0, said.err
        assert "VALID  2 signed receipts of the first shuffler, numbers 0 to 2\n" in said.out
        assert said.out.count("(not here, not checked)") == 2

    def test_one_that_was_changed_is_refused(self, operators, verify):
        path = min(operators.second.out.glob("*.taken-over.json"))
        path.write_text(path.read_text().replace('"number":0', '"number":1'))
        said = verify(path)
        assert said.code == 1
        assert "is not signed" in said.err

    @pytest.mark.parametrize("ending", ["taken-over.json", "receipt.json"])
    def test_together_they_are_refused_with_what_to_do(self, operators, verify, ending):
        other = operators.second if ending == "taken-over.json" else operators.first
        both = [*operators.second.out.glob("*.receipt.json"), *other.out.glob(f"*.{ending}")]
        said = verify(*both)
        assert said.code == 2
        assert "must be receipts of one shuffler" in said.err.replace("\n", " ")

    def test_each_chain_alone_is_valid(self, operators, verify):
        for side in (operators.first, operators.second):
            said = verify(*side.out.glob("*.receipt.json"))
            assert said.code == 0
            assert "VALID  3 signed, chained receipts, numbers 0 to 2" in said.out

    def test_a_directory_is_refused_with_what_to_name(self, operators, verify):
        said = verify(operators.second.out)
        assert said.code == 2
        assert "*.receipt.json" in said.err
