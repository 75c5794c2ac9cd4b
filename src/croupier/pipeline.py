"""The former package `croupier.pipeline`, now one package per party."""

from croupier.errors import RenamedError

raise RenamedError(
    "the package croupier.pipeline",
    "croupier.protocol, croupier.client, croupier.engines, croupier.shuffler and croupier.analyzer",
)
