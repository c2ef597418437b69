"""JSON Schema in tests: the validator is imported by the first test that needs it, for seconds."""

from __future__ import annotations

from typing import Any

from fuseloom.program.late import LazyModule
from fuseloom.results.document import DocumentKind
from fuseloom.results.schemas import schema

jsonschema = LazyModule("jsonschema")


def validator(kind: DocumentKind) -> Any:
    """The validator of documents of a kind."""
    return jsonschema.Draft202012Validator(schema(kind))


def check_document(made: Any, kind: DocumentKind) -> None:
    """Check that a document follows the schema of its kind."""
    validator(kind).validate(made)


def check_schema(made: Any) -> None:
    """Check that a schema is one."""
    jsonschema.Draft202012Validator.check_schema(made)
