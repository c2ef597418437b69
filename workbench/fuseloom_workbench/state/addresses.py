"""Addresses that open a design."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST_ADDRESS = 8_000
"""Characters of an address; servers and proxies refuse some that are longer."""


def requests_of(words: Mapping[str, str]) -> list[tuple[Any, ...]]:
    """The requests that an address makes, as a page makes them.

    ``?model=gcn&data=karate&preset=full``; ``schedule`` holds the text of one, or ``run`` that of
    one to which nothing is added, ``program`` that of a program on the same data, ``machine`` the
    name of one or its text, any other name is a size or density of the model.  What is none is
    refused as any request is.

    Examples
    --------
    >>> requests_of({"model": "gcn", "preset": "full", "hidden": "8"})
    [('choose', 'gcn'), ('set_options', {'hidden': '8'}), ('preset', 'full')]
    """
    sizes = dict(words)
    model = sizes.pop("model", None)
    if model is None:
        return []
    requests: list[tuple[Any, ...]] = [("choose", model)]
    data, preset = sizes.pop("data", None), sizes.pop("preset", None)
    program, schedule = sizes.pop("program", None), sizes.pop("schedule", None)
    machine, whole = sizes.pop("machine", None), sizes.pop("run", None)
    if data is not None:
        requests.append(("choose_data", data))
    if sizes:
        requests.append(("set_options", sizes))
    if machine is not None:
        requests.append(("set_machine", machine))
    if program is not None:
        requests.append(("set_program", program))
    if whole is not None:
        requests.append(("set_whole_schedule", whole))
    elif schedule is not None:
        requests.append(("set_schedule", schedule))
    elif preset is not None:
        requests.append(("preset", preset))
    return requests
