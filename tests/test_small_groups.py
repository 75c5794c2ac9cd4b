"""The guide for small groups, played from plan to result by three parties on one machine."""

import re
from pathlib import Path

import pytest

from tests.test_operating import incident, played

GUIDE = (Path(__file__).parents[1] / "docs/guides/small-groups.md").read_text()

pytestmark = pytest.mark.slow


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def alike(text):
    """A text without what differs from run to run: digests, counts, dates and spaces."""
    text = re.sub(r"\b[0-9a-f]{8,}\b", "#", text.replace("%*", "%"))
    return re.sub(r"\s+", " ", re.sub(r"[-\d][-\d,.]*", "#", text)).strip()


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the guide prints where the second shuffler first finds a hand-over without its file.

    Its command is refused; once the file is back, the page of the incident repeats it.
    """
    script = "".join(blocks("sh"))
    (take_over,) = re.findall(r"^\(cd second .*-o released\)$", script, re.MULTILINE)
    refused = f"mv first/released/*.parquet .\n{take_over} || test $? = 4\n"
    mended = "mv *.parquet first/released/\n" + incident("hand-over")
    assert take_over in mended
    script = script.replace(f"{take_over}\n", refused + mended)
    return played(script, tmp_path_factory.mktemp("guide"))


def test_the_guide_prints_what_it_shows(printed):
    said = alike(printed)
    assert len(blocks("text")) == 6
    for block in blocks("text"):
        for line in block.splitlines():
            assert alike(line) in said, (line, printed)


def test_what_is_proved_is_shown_to_the_digit(printed):
    ladder, compared, *_ = blocks("text")
    assert ladder in printed
    assert compared in printed
    assert "MET, the plan's own limits: 4 of 4" in printed


def assessed(printed, who):
    """The numbers of a plan that the table of the guide has, as `assess` printed them."""
    (text,) = re.findall(
        rf"^workload   {who}.*?percentage points", printed, re.DOTALL | re.MULTILINE
    )
    rows = {
        line.split()[0]: re.split(r"\s{2,}", line) for line in text.splitlines() if "  " in line
    }
    some, all_ = ("collusion",) * 2 if "collusion" in rows else ("all_but_one", "everybody")
    (error,) = re.findall(r"standard error of ([\d.]+) percentage", text)
    epsilon = {rung: re.split("-|at most ", rows[rung][1])[-1] for rung in ("batch", some)}
    return [error, epsilon["batch"], rows["batch"][2], epsilon[some], rows[some][3], rows[all_][3]]


def test_the_table_beside_noise_is_what_assess_prints(printed):
    table = re.search(r"^\| \| noise.*?(?=\n\n)", GUIDE, re.DOTALL | re.MULTILINE).group()
    _, _, *rows = ([cell.strip() for cell in line.split("|")[2:-1]] for line in table.splitlines())
    first, *noise = re.split(r"(?=^workload   k-rr)", printed, flags=re.MULTILINE)
    plans = [*(assessed(part, "k-rr") for part in noise), assessed(first, "plain")]
    assert len(plans) == 4
    assert rows == [list(row) for row in zip(*plans, strict=True)]


def test_the_result_is_near_the_truth(printed):
    """Two draws of dummies move no share by 60 counts of 300, but with a chance below 1e-9."""
    told = dict(
        re.findall(r"^([a-z ]+?) +(-?[\d.]+) %\*? +[\d.]+ to [\d.]+$", printed, re.MULTILINE)
    )
    truth = {"far too low": 1, "too low": 8, "right": 30, "too high": 40, "far too high": 18}
    assert told.keys() == {*truth, "cannot say"}
    assert all(abs(float(told[answer]) - share) < 20 for answer, share in truth.items())
    assert "300 counted" in printed


def test_a_hand_over_that_lacks_its_file_is_refused_and_mended_as_its_page_says(printed):
    """The second shuffler holds the batch; once the file is back, it releases."""
    said = re.sub(r"\s+", " ", printed)
    assert said.count("See docs/incidents/hand-over.md.") == 1, printed
    assert "The first shuffler's hand-over lacks" in said
    assert said.count("RELEASED") == 2
    assert "Receipts of both shufflers valid" in said
