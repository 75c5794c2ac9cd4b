"""Write a synthetic community to a Parquet file, marked as synthetic in its metadata.

Run: python examples/datasets/write.py hospital hospital.parquet [--people N] [--seed N]
Then: croupier mallows evaluate --data hospital.parquet --columns x,y --value value
      --privileged privileged --attack-radius 10 --radii 0,10,50

A graph of contacts goes to a second file, of two columns, beside the first.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from croupier.datasets.catalogue import DATASETS, Dataset
from croupier.datasets.community import Community

COLUMNS = {
    "x": "public: place",
    "y": "public: place, second coordinate",
    "privileged": "known to an attacker, not used by the shuffler",
    "value": "secret: what the person holds",
    "first": "public: a person, by row",
    "second": "public: a contact of that person, by row",
}


def people(community: Community) -> dict[str, Any]:
    """One column per fact, one row per person."""
    columns: dict[str, Any] = dict(zip("xy", community.places.T, strict=False))
    if community.privileged is not None:
        columns["privileged"] = community.privileged
    return columns | {"value": np.asarray(community.labels)[community.values]}


def write(path: Path, columns: dict[str, Any], about: str) -> None:
    """Write a file whose metadata, also those of its columns, say that it is synthetic."""
    arrays = [pa.array(column.tolist()) for column in columns.values()]
    fields = [
        pa.field(name, array.type, metadata={"about": f"synthetic; {COLUMNS[name]}"})
        for name, array in zip(columns, arrays, strict=True)
    ]
    schema = pa.schema(fields, metadata={"synthetic": "true", "about": f"Synthetic: {about}"})
    pq.write_table(pa.table(arrays, schema=schema), path)
    print(f"Wrote {len(arrays[0]):,} synthetic rows to {path}: {about}")


def write_dataset(found: Dataset, path: Path, *, n: int, seed: int) -> None:
    """Write the people, and the graph of contacts if there is one."""
    community = found.make(n=n, seed=seed)
    write(path, people(community), found.about)
    if community.contacts is not None:
        first, second = community.contacts.nonzero()
        contacts = path.with_stem(f"{path.stem}-contacts")
        write(contacts, {"first": first, "second": second}, f"{found.about}: contacts")


def main() -> None:
    """Write the dataset that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=list(DATASETS))
    parser.add_argument("output", type=Path)
    parser.add_argument("--people", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = DATASETS[given.name]
    write_dataset(found, given.output, n=given.people or found.people, seed=given.seed)


if __name__ == "__main__":
    main()
