"""Programs as versioned JSON."""

from __future__ import annotations

import json
from typing import Any

from fuseloom.errors import ProgramError
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.functions import Op
from fuseloom.program.relations import Relation
from fuseloom.program.types import Access, BroadcastAdd, Program, Statement, Tensor
from fuseloom.program.verify import verify

JSON_VERSION = 1


def program_to_json(program: Program) -> str:
    """Versioned JSON that :func:`program_from_json` reads back to an equal program."""
    return json.dumps(
        {
            "fuseloom": "program",
            "version": JSON_VERSION,
            "name": program.name,
            "tensors": [
                {
                    "name": t.name,
                    "shape": list(t.shape),
                    "levels": [level.value for level in t.format.levels],
                    "mode_order": list(t.format.mode_order),
                    "block": t.format.block,
                    "blocked": list(t.format.blocked),
                    "made": _made_to_json(t.made),
                }
                for t in program.tensors
            ],
            "statements": [
                {
                    "out": _access_to_json(s.out),
                    "op": s.op.name.lower(),
                    "operands": [_access_to_json(a) for a in s.operands],
                    "constant": s.constant,
                    "axis": s.axis,
                    "line": s.line,
                    "column": s.column,
                    **({"nonzero": True} if s.nonzero else {}),
                }
                for s in program.statements
            ],
            "outputs": list(program.outputs),
            "broadcast_add": program.broadcast_add.value,
        }
    )


def program_from_json(text: str) -> Program:
    """Read what :func:`program_to_json` wrote.

    Raises
    ------
    ProgramError
        Not JSON, not a program, another version, or a program that fails verification.
    """
    try:
        data = json.loads(text)
        if data.get("fuseloom") != "program" or data.get("version") != JSON_VERSION:
            raise ProgramError(
                "this JSON is not a program of a known version",
                hint=f"expected fuseloom 'program', version {JSON_VERSION}",
            )
        program = _program_from(data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        reason = " ".join(str(problem).split())[:200]
        raise ProgramError(
            f"malformed program JSON: {type(problem).__name__} {reason}",
            hint="write it with program_to_json",
        ) from None
    verify(program)
    return program


def _program_from(data: dict[str, Any]) -> Program:
    tensors = tuple(
        Tensor(
            _text(t["name"]),
            _integers(t["shape"]),
            Format(
                tuple(LevelFormat(x) for x in t["levels"]),
                _integers(t["mode_order"]),
                _integers([t.get("block", 1)])[0],
                _integers(t.get("blocked", [])),
            ),
            _made_from_json(t.get("made")),
        )
        for t in data["tensors"]
    )
    statements = tuple(
        Statement(
            _access_from_json(s["out"]),
            Op[_text(s["op"]).upper()],
            tuple(_access_from_json(a) for a in s["operands"]),
            None if s["constant"] is None else float(s["constant"]),
            None if s.get("axis") is None else _text(s["axis"]),
            s.get("line"),
            s.get("column"),
            s.get("nonzero") is True,
        )
        for s in data["statements"]
    )
    outputs = tuple(_text(name) for name in data["outputs"])
    return Program(
        _text(data["name"]), tensors, statements, outputs, BroadcastAdd(data["broadcast_add"])
    )


def _access_to_json(access: Access) -> list[str | list[str]]:
    return [access.tensor, list(access.indices)]


def _access_from_json(data: Any) -> Access:
    name, indices = data
    return Access(_text(name), tuple(_text(x) for x in indices))


def _made_to_json(made: Relation | None) -> dict[str, Any] | None:
    if made is None:
        return None
    return {
        "target": made.target,
        "terms": [list(term) for term in made.terms],
        "offset": made.offset,
        "entries": None if made.entries is None else list(made.entries),
    }


def _made_from_json(data: Any) -> Relation | None:
    if data is None:
        return None
    terms = tuple(_integers(term) for term in data["terms"])
    target, offset = _integers([data["target"], data["offset"]])
    entries = data["entries"]
    return Relation(
        target,
        tuple((dimension, coefficient) for dimension, coefficient in terms),
        offset,
        None if entries is None else _integers(entries),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a name, found {value!r}")
    return value


def _integers(values: Any) -> tuple[int, ...]:
    if not all(type(value) is int for value in values):
        raise TypeError(f"expected integers, found {values!r}")
    return tuple(values)
