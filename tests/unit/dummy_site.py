"""A collection whose shuffler adds dummies, without a database: it signs what a test makes up."""

import numpy as np

from croupier.engines.mixing import mixed, rows_of
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import write_batch
from croupier.protocol.receipt import Counts, ReleasedFile

DUMMIES = {"epsilon": 1.0, "delta": 1e-8}


def with_dummies(site, *, k=10, minimum=50, **settings):
    """Return a site whose plan collects values as they are, with dummies."""
    document = {name: part for name, part in site.plan.document().items() if name != "questions"}
    site.plan = Plan.from_document(
        document
        | {
            "randomizer": {"mechanism": "plain", "k": k},
            "protections": {"minimum_batch": minimum},
            "shufflers": [{"key": site.house.public, "dummies": DUMMIES} | settings],
        }
    )
    site.file.write_text(site.plan.to_toml())
    site.listed = site.house.listed(site.plan)
    (site.out / "shuffler-keys.json").write_bytes(site.listed.to_bytes())
    return site


def release(site, inner, epoch, dummies, *, signed=None):
    """Publish ciphertexts with so many dummies of each report.

    Args:
        site: The collection.
        inner: What people sent, sealed to the analyzer.
        epoch: The round and batch.
        dummies: The number of dummies of each report.
        signed: The number of dummies that the receipt names, if another.
    """
    made_up = site.sealed(np.repeat(np.arange(len(dummies)), dummies), epoch)
    rows = mixed(rows_of([*inner, *made_up], length=epoch.inner_length))
    number = 0 if site.last is None else site.last.number + 1
    path = site.out / f"2026-03-{1 + number:02}-round-{epoch.round_number}.parquet"
    write_batch(rows, path)
    added = int(np.sum(dummies)) if signed is None else signed
    site.receipt(
        path,
        event="released",
        round=epoch.round_number,
        batch=epoch.batch.hex(),
        analyzer=epoch.analyzer.hex(),
        counts=Counts(received=len(rows) - added, added=added, released=len(rows)),
        file=ReleasedFile.of(path, name=path.name),
    )
    return path
