"""The samples of every source: each module here has a list `SAMPLES`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from tests.importers.sample import Sample

SAMPLES: list[Sample] = [
    sample
    for module in sorted(iter_modules(__path__), key=lambda module: module.name)
    for sample in import_module(f"{__name__}.{module.name}").SAMPLES
]
