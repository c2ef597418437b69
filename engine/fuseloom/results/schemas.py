"""JSON Schemas (draft 2020-12) of the documents, made from their declarations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from importlib import import_module
from typing import Annotated, Any, Union, get_args, get_origin, is_typeddict

import msgspec

from fuseloom.results.declarations import LARGEST, declared, descriptions, summary
from fuseloom.results.document import DECLARED, VERSIONS, DocumentKind

Schema = dict[str, Any]


def schema(kind: DocumentKind) -> Schema:
    """The JSON Schema of a kind of document."""
    module, _, name = DECLARED[kind].partition(":")
    root = getattr(import_module(module), name)
    parts: dict[str, Schema] = {}
    made = _object(root, parts)
    version = VERSIONS[kind]
    properties = {
        "fuseloom": {"description": "What this document is.", "const": kind.value},
        "version": {
            "description": "Version of this kind of document; readers refuse others.",
            "const": version,
        },
        **made["properties"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"fuseloom:{kind.value}:{version}",
        "title": made["description"],
        **{name: made[name] for name in ("type", "additionalProperties")},
        "required": list(properties),
        "properties": properties,
        **({"$defs": parts} if parts else {}),
    }


def _object(kind: type, parts: dict[str, Schema]) -> Schema:
    """The schema of a declaration; those of what it refers to come into ``parts``."""
    told = descriptions(kind)
    properties = {
        name: {**({"description": told[name]} if name in told else {}), **_schema(hint, parts)}
        for name, hint in declared(kind).items()
    }
    return {
        "description": summary(kind),
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _schema(hint: Any, parts: dict[str, Schema]) -> Schema:
    """The schema of a type."""
    inner, origin = get_args(hint), get_origin(hint)
    if isinstance(hint, type) and (is_typeddict(hint) or hasattr(hint, "to_dict")):
        if hint.__name__ not in parts:
            parts[hint.__name__] = {}  # it may contain itself
            parts[hint.__name__] = _object(hint, parts)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if origin is Annotated and get_origin(inner[0]) is not None:
        least = [n.min_length for n in inner[1:] if isinstance(n, msgspec.Meta) and n.min_length]
        return {**_schema(inner[0], parts), **({"minItems": least[0]} if least else {})}
    if origin is Annotated and not any(isinstance(note, msgspec.Meta) for note in inner[1:]):
        return _schema(inner[0], parts)
    if origin is Union or type(hint).__name__ == "UnionType":
        return _any_of([_schema(one, parts) for one in inner])
    if origin is tuple and ... not in inner:
        items = [_schema(one, parts) for one in inner]
        ends = {"minItems": len(items), "maxItems": len(items)}
        if all(item == items[0] for item in items):
            return {"type": "array", "items": items[0], **ends}
        return {"type": "array", "prefixItems": items, **ends}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        names = {} if inner[0] is str else {"propertyNames": _schema(inner[0], parts)}
        return {"type": "object", **names, "additionalProperties": _schema(inner[1], parts)}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _schema(inner[0], parts)}
    made = msgspec.json.schema(hint)
    return {name: limit for name, limit in made.items() if limit != LARGEST}


def _any_of(parts: list[Schema]) -> Schema:
    """One schema for several: with a list of types where they differ in nothing else."""
    merged: dict[str, list[Any]] = {}
    for part in parts:
        rest = json.dumps({name: value for name, value in part.items() if name != "type"})
        merged.setdefault(rest, []).append(part.get("type"))
    if merged.get("{}") == ["null"] and len(merged) == 2:
        (rest,) = merged.keys() - {"{}"}
        if None not in merged[rest]:  # what else is said of the other is not said of null
            merged = {rest: [*merged[rest], "null"]}
    found = [
        {**({} if None in types else {"type": _together(types)}), **json.loads(rest)}
        for rest, types in merged.items()
    ]
    return found[0] if len(found) == 1 else {"anyOf": found}


def _together(types: list[str]) -> Any:
    """Types as a schema has them; every integer is a number."""
    kept = [t for t in types if t != "integer" or "number" not in types]
    return kept[0] if len(kept) == 1 else kept
