"""Finding nodes of the graph by what people type: a primitive, an index, a tensor, a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST = 200
"""Characters of what is looked for."""


def hits(nodes: Mapping[str, Mapping[str, Any]], text: str) -> tuple[list[str], str]:
    """Keys of the nodes that are meant, in the order given, and what they have in common.

    The name of an index or of a tensor means all nodes of it, a number (also ``#12``) the node of
    that number; anything else is a part of a node's name, of its primitive's, or its statement's.

    Examples
    --------
    >>> nodes = {"n3": {"find": "ls a.i level scanner", "index": "i", "tensor": "A", "number": 3}}
    >>> hits(nodes, "i")
    (['n3'], 'index i')
    >>> hits(nodes, "scan")
    (['n3'], '')
    """
    wanted = text.strip()[:LONGEST]
    if not wanted:
        return [], ""
    for field, what in (("index", "index"), ("tensor", "tensor")):
        found = [key for key, node in nodes.items() if node[field] == wanted]
        if found:
            return found, f"{what} {wanted}"
    number = wanted.removeprefix("#")
    if number.isascii() and number.isdecimal() and len(number) < 9:
        found = [key for key, node in nodes.items() if node["number"] == int(number)]
        return found, f"number {int(number)}"
    words = wanted.lower()
    return [key for key, node in nodes.items() if words in node["find"]], ""
