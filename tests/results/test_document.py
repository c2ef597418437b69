"""Documents and their schemas."""

from __future__ import annotations

from typing import Any

import pytest

from fuseloom.errors import RecordError
from fuseloom.results.document import (
    VERSIONS,
    DocumentKind,
    content_of,
    document,
    plain,
    to_text,
)
from fuseloom.results.schemas import schema
from tests.schemas import check_schema

TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}


def subschemas(part: Any, path: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Every schema inside a schema, with its place."""
    if isinstance(part, list):
        return [found for k, item in enumerate(part) for found in subschemas(item, f"{path}/{k}")]
    if not isinstance(part, dict):
        return []
    found = [(path, part)]
    for name, inner in part.items():
        match name:
            case "properties" | "$defs":
                for key, item in inner.items():
                    found += subschemas(item, f"{path}/{name}/{key}")
            case "items" | "additionalProperties" | "propertyNames" | "anyOf" | "prefixItems":
                found += subschemas(inner, f"{path}/{name}")
    return found


@pytest.mark.parametrize("kind", DocumentKind)
def test_schemas_are_schemas_and_strict(kind: DocumentKind) -> None:
    made = schema(kind)
    check_schema(made)
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert made["properties"]["fuseloom"]["const"] == kind.value
    assert made["properties"]["version"]["const"] == VERSIONS[kind]
    for place, part in subschemas(made):
        assert not part or part.keys() & {"type", "const", "$ref", "anyOf", "enum"}, place
        if part.get("type") == "object" and "properties" in part:
            assert part["additionalProperties"] is False, place
            assert set(part["required"]) == set(part["properties"]), place
        elif "object" in part.get("type", ()):
            assert isinstance(part["additionalProperties"], dict), place


@pytest.mark.parametrize("kind", DocumentKind)
def test_every_figure_is_described(kind: DocumentKind) -> None:
    for place, part in subschemas(schema(kind)):
        for name, inner in part.get("properties", {}).items():
            number = {"number", "integer"} & set(str(inner.get("type")).split("'"))
            if number:
                assert inner.get("description"), f"{place}/{name}"


def test_one_name_is_one_thing() -> None:
    """A definition that two schemas share is the same in both."""
    seen: dict[str, Any] = {}
    for kind in DocumentKind:
        for name, definition in schema(kind).get("$defs", {}).items():
            assert seen.setdefault(name, definition) == definition, (kind, name)
    assert "DataSource" in seen


def test_a_document_says_what_it_is() -> None:
    made = document(DocumentKind.WARMUP, {"seconds": 1.0})
    assert made == {"fuseloom": "warmup", "version": 1, "seconds": 1.0}
    assert content_of(DocumentKind.WARMUP, made) == {"seconds": 1.0}
    with pytest.raises(RecordError, match="not a fuseloom run record"):
        content_of(DocumentKind.RUN, made)


def test_infinities_are_never_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_text({"seconds": float("inf")})
    assert plain({"a": (1, float("-inf"), {"b": [float("nan"), 2.5]})}) == {
        "a": [1, None, {"b": [None, 2.5]}]
    }
