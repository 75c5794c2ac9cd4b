"""Groups from a list of contacts: from the public file to plan, collection, release and result."""

import json
import re

import pytest

from tests.test_operating import played

pytestmark = pytest.mark.slow

SCRIPT = """
(echo who,whom; for i in $(seq 0 119); do echo $i,$(( (i + 1) % 120 )); done) > contacts.csv
croupier mallows order contacts.csv --edges who,whom --steps 3 --alpha 4 --json | tee order.json
cat > plan.toml <<END
schema = 2
name = "contacts"
[randomizer]
mechanism = "k-rr"
k = 2
max_epsilon_local = 2.0
[population]
enrolled = 120
[collection]
every = "1m"
[[shufflers]]
[analyzer]
[shuffling]
order = "mallows"
alpha = 4.0
[shuffling.groups]
sha256 = "$(sha256sum contacts.csv | cut -d ' ' -f 1)"
sensitivity = $(sed 's/.*"sensitivity": \\([0-9]*\\), "paper.*/\\1/' order.json)
[protections]
minimum_batch = 100
minimum_crowd = 4
[guarantee]
delta = 1e-6
[policy]
batch = {max_epsilon = 2.0, max_alpha = 4.0, max_reidentification = 0.9}
clients = {max_epsilon = 2.0, max_alpha = 4.0, max_reidentification = 0.9}
END
umask 077
for role in analyzer shuffler release intake database; do openssl rand -hex 16 > $role.txt; done
croupier keys create analyzer --passphrase-file analyzer.txt --into plan.toml
croupier keys create shuffler --passphrase-file shuffler.txt --into plan.toml
croupier keys create release --passphrase-file release.txt
croupier keys create intake --passphrase-file intake.txt
croupier keys sign analyzer plan.toml --passphrase-file analyzer.txt
croupier keys sign shuffler plan.toml --passphrase-file shuffler.txt
echo "CREATE ROLE croupier LOGIN PASSWORD '$(cat database.txt)'" | sudo -u postgres psql
sudo -u postgres createdb --owner croupier --encoding UTF8 --template template0 croupier
export CROUPIER_DATABASE="postgresql://croupier:$(cat database.txt)@127.0.0.1/croupier"
croupier credentials issue credentials.key --new --owners 120 > everybody.txt
cat > release.sh <<'END'
croupier release --plan plan.toml --passphrase-file release.txt -o released --public contacts.csv \\
  --secret credentials.key "$@"
END
contacts="--edges who,whom --steps 3"
bash release.sh $contacts --next-round --analyzer analyzer.json
croupier serve --plan plan.toml --secret credentials.key --passphrase-file intake.txt &
until curl --silent --fail http://127.0.0.1:8000/readyz; do sleep 1; done
(echo answer; for i in $(seq 0 119); do echo $((i / 60)); done) > answers.csv
export CROUPIER_CREDENTIAL=$(croupier credentials issue credentials.key --relay)
croupier submit plan.toml answers.csv --server http://127.0.0.1:8000
bash release.sh --edges who,whom --steps 2 || echo refused with $?
until ls released/*.parquet 2> /dev/null; do sleep 5; bash release.sh $contacts; done
croupier receipt verify released/*.receipt.json --plan plan.toml
croupier analyze released/*.parquet --plan plan.toml --passphrase-file analyzer.txt --json
croupier assess plan.toml --json
kill %1
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    return played(SCRIPT, tmp_path_factory.mktemp("contacts"))


def documents(printed, key):
    lines = [line for line in printed.splitlines() if line.startswith("{") and f'"{key}"' in line]
    return [json.loads(line) for line in lines]


def test_a_collection_runs_from_an_edge_list_to_a_result(printed):
    """120 people in a ring; each group has three contacts on either side."""
    (order,) = documents(printed, "paper_bound")
    assert (order["people"], order["mean_group"], order["components"]) == (120, 7, 1)
    assert order["plan_crowd"] > 4
    assert re.search(r"received 120 = 120 released", printed)
    (result,) = documents(printed, "questions")
    assert "120" in json.dumps(result)


def test_other_groups_are_refused_before_anything_is_opened(printed):
    assert "must be that of these groups" in printed
    assert "refused with 2" in printed


def test_the_limit_of_finding_somebody_is_in_the_ladder(printed):
    (ladder,) = documents(printed, "n_proved")
    batch = next(row for row in ladder["rungs"] if row["rung"] == "batch")
    (link,) = (cell for cell in batch["cells"] if cell["metric"] == "reidentification")
    assert link["status"] == "proved"
    assert 0 < link["lower"] < link["upper"] < 0.9
    assert "sharpened" in link["theorem"]
