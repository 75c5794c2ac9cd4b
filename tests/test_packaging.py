"""What a plain installation must do, tried without installing; scripts/smoke installs."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import metadata, packages_distributions
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = DECLARED["project"]
CLIENT = tomllib.loads((ROOT / "clients" / "python" / "pyproject.toml").read_text())["project"]
ROW = re.compile(r"^\| ([\w-]+)(?: \(extras? (.*)\))? \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)
FAMILIES = {
    "Apache": "Apache",
    "0BSD": "0BSD",
    "BSD": "(?<!0)BSD",
    "CC0": "CC0",
    "LGPL": "LGPL",
    "MIT": "MIT",
    "MPL": "MPL|Mozilla",
    "PSF": "PSF|Python Software Foundation",
    "Zlib": "Zlib",
}


def named(requirements):
    """The names of requirements, as registries spell them."""
    return {normal(re.match(r"[\w.-]+", requirement)[0]) for requirement in requirements}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_program_starts_without_any_extra():
    extras = named(chain(*PROJECT["optional-dependencies"].values())) - {"croupier"}
    modules = [
        module
        for module, packages in packages_distributions().items()
        if {normal(package) for package in packages} <= extras
    ]
    assert {"psycopg", "pyarrow", "matplotlib"} <= set(modules)
    hidden = f"import sys; sys.modules.update(dict.fromkeys({modules}))"
    done = subprocess.run(
        [sys.executable, "-c", f"{hidden}; from croupier.cli import main; main()", "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def tables():
    """The rows of the tables of dependencies: those of users, those of developers."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    users, developers = text.partition("## Dependencies")[2].split("For development:")
    return [ROW.findall(part)[1:] for part in (users, developers)]


def test_tables_name_every_dependency():
    users, developers = tables()
    optional = CLIENT["optional-dependencies"] | PROJECT["optional-dependencies"]
    extras = {name: named(asked) for name, asked in optional.items() if name != "all"}
    written = {name: set(re.findall(r"`(\w+)`", where)) for name, where, _ in users}
    assert written == {
        name: {extra for extra, asked in extras.items() if name in asked}
        for name in named(required()).union(*extras.values())
    }
    built = DECLARED["build-system"]["requires"] + DECLARED["dependency-groups"]["dev"]
    assert sorted(name for name, _, _ in developers) == sorted(named(built))


def required():
    """What both distributions require, without each other."""
    asked = PROJECT["dependencies"] + CLIENT["dependencies"]
    return [one for one in asked if named([one]) != {CLIENT["name"]}]


def test_both_distributions_have_one_version():
    assert f"{CLIENT['name']}=={PROJECT['version']}" in PROJECT["dependencies"]
    assert CLIENT["dynamic"] == ["version"]


def test_an_extra_of_both_distributions_asks_for_the_same():
    theirs = PROJECT["optional-dependencies"]
    for name, asked in CLIENT["optional-dependencies"].items():
        assert asked == theirs.get(name, asked)
        assert name in theirs or set(asked) <= set(PROJECT["dependencies"])


def families(text):
    return {family for family, pattern in FAMILIES.items() if re.search(pattern, text)}


def stated_licence(package):
    """What a package says of its licence: the expression, else a name, else a classifier."""
    about = metadata(package)
    if about.get("License-Expression"):
        return about["License-Expression"]
    marks = [line for line in about.get_all("Classifier", ()) if line.startswith("License")]
    name = about.get("License", "")
    return " ".join([*marks, name if len(name) < 60 else ""])


@pytest.mark.parametrize(
    ("package", "licence"),
    sorted(
        {
            (name, licence)
            for name, _, licence in chain(*tables())
            if name != "hatchling"  # in the environments of builds only
        }
    ),
)
def test_licence_is_what_the_package_states(package, licence):
    assert families(licence)
    assert families(licence) == families(stated_licence(package))


def test_bill_of_materials_is_closed_and_names_no_registry():
    program = [sys.executable, ROOT / "scripts" / "sbom"]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    parts = {part["bom-ref"]: part for part in document["components"]}
    assert all(part["version"] and part["licenses"] for part in parts.values())
    links = {link["ref"]: set(link["dependsOn"]) for link in document["dependencies"]}
    root = document["metadata"]["component"]["bom-ref"]
    assert set(links) == {root, *parts}
    assert set().union(*links.values()) == set(parts)
    direct = {normal(parts[ref]["name"]) for ref in links[root]}
    assert named(PROJECT["dependencies"]) | {"psycopg", "pyspark"} <= direct
    assert "://" not in done.stdout
