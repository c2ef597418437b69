"""Modules read from HLO text, as JAX prints them and XLA dumps them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

import numpy.typing as npt

from fuseloom.errors import ParseError, shortened
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.hlo.attributes import LEFT_OUT, called, read_attribute
from fuseloom.stitch.hlo.literals import MOST_ELEMENTS, read_literal
from fuseloom.stitch.hlo.scanner import WORD, HloScanner
from fuseloom.stitch.hlo.shape_text import Layout, read_shape, row_major
from fuseloom.stitch.shapes import TensorShape, TupleShape
from fuseloom.wording import closest, counted

MOST_CHARACTERS = 50_000_000
MOST_OPERATIONS = 200_000
_TABLE = re.compile(
    r"(?:FileNames|FunctionNames|FileLocations|StackFrames)\b[^\n]*\n(?:\s*[0-9]+ [^\n]*\n?)*"
)
_DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
_T = TypeVar("_T")


@dataclass
class _PlacedOperation:
    """An operation, and places of its parts in the text."""

    operation: DenseOperation
    at: int
    operands_at: Sequence[int]
    calls_at: int
    layout: Layout | None


@dataclass
class _Reading:
    """A computation, before its operations are in order."""

    name: str
    at: int
    rows: dict[str, _PlacedOperation] = field(default_factory=dict)
    root: str | None = None


def read_hlo(text: str, source: str = "") -> DenseModule:
    """Read a module.

    Operations come to stand behind those whose values they read, computations behind those that
    they call.  Attributes that decide on values are read, metadata is left out, and all others are
    kept as text; so are opcodes that are not known.  Layouts are left out except for those of
    bitcasts, whose attributes ``layout`` and ``operand_layout`` are there if they are not
    row-major.

    Parameters
    ----------
    text : str
        As ``jax.jit(f).lower(x).compiler_ir("hlo").as_hlo_text()`` gives it.
    source : str, optional
        What the text is called in errors.

    Raises
    ------
    ParseError
        Of text that is no module, with the line and the column.

    Examples
    --------
    >>> module = read_hlo('''HloModule double
    ...
    ... ENTRY main.3 {
    ...   x.1 = f32[4]{0} parameter(0)
    ...   ROOT add.2 = f32[4]{0} add(x.1, x.1)
    ... }''')
    >>> for operation in module.main.operations:
    ...     print(operation)
    x.1 = f32[4] parameter()
    add.2 = f32[4] add(x.1, x.1)
    """
    if len(text) > MOST_CHARACTERS:
        raise ParseError(f"a module has at most {MOST_CHARACTERS:,} characters", source=source)
    return _HloReader(HloScanner(text, source)).module()


class _HloReader:
    def __init__(self, scanner: HloScanner) -> None:
        self.scanner = scanner
        self.elements = MOST_ELEMENTS
        self.operations = 0

    def module(self) -> DenseModule:
        scanner = self.scanner
        if not scanner.word("HloModule"):
            scanner.unexpected("'HloModule'")
        name = scanner.name()
        self._attributes()
        readings: dict[str, _Reading] = {}
        entry: str | None = None
        while not scanner.ended:
            if _TABLE.match(scanner.text, scanner.at):
                scanner.take(_TABLE, "a table")
                continue
            start = scanner.at
            is_entry = scanner.word("ENTRY")
            reading = self._computation()
            if reading.name in readings:
                scanner.fail(f"two computations have the name {reading.name}", at=reading.at)
            readings[reading.name] = reading
            if is_entry:
                if entry is not None:
                    scanner.fail("two computations are marked ENTRY", "mark one", at=start)
                entry = reading.name
        if entry is None:
            scanner.fail("no computation is marked ENTRY", "mark the one that is run")
        self._verify_calls(readings)
        made = {one.name: self._ordered(one) for one in self._callees_first(readings)}
        return DenseModule(name, made, entry)

    def _attributes(self) -> dict[str, Any]:
        """Read attributes, each behind a comma."""
        attributes: dict[str, Any] = {}
        scanner = self.scanner
        while scanner.sign(","):
            start = scanner.at
            name = scanner.take(WORD, "the name of an attribute")[0]
            scanner.demand("=")
            value = read_attribute(scanner, name)
            if name in attributes:
                scanner.fail(f"{shortened(name, 40)} stands there twice", at=start)
            if name not in LEFT_OUT:
                attributes[name] = value
        return attributes

    def _computation(self) -> _Reading:
        scanner = self.scanner
        reading = _Reading("", scanner.at)
        reading.name = scanner.name()
        if scanner.sees("("):
            scanner.balanced(one=True)
            scanner.demand("->")
            read_shape(scanner)
        scanner.demand("{")
        while not scanner.sees("}"):
            self._row(reading)
        if not reading.rows:
            scanner.fail(f"{reading.name} has no operation", at=reading.at)
        scanner.demand("}")
        self._attributes()
        self._verify_parameters(reading)
        return reading

    def _row(self, reading: _Reading) -> None:
        scanner = self.scanner
        start = scanner.at
        self.operations += 1
        if self.operations > MOST_OPERATIONS:
            scanner.fail(f"a module has at most {counted(MOST_OPERATIONS, 'operation')}")
        is_root = scanner.word("ROOT")
        at = scanner.at
        name = scanner.name()
        if name in reading.rows:
            scanner.fail(f"two operations of {reading.name} have the name {name}", at=at)
        if is_root and reading.root is not None:
            scanner.fail(f"two operations of {reading.name} are marked ROOT", "mark one", at=start)
        if is_root:
            reading.root = name
        scanner.demand("=")
        shape, layout = read_shape(scanner)
        opcode_at = scanner.at
        opcode = scanner.take(WORD, "an opcode")[0]
        scanner.demand("(")
        operands: list[str] = []
        operands_at: list[int] = []
        literal: npt.NDArray[Any] | None = None
        attributes: dict[str, Any] = {}
        if opcode == "constant":
            if isinstance(shape, TupleShape):
                scanner.fail("a constant is a tuple", "make a constant of each part", at=opcode_at)
            literal = read_literal(scanner, shape, self.elements)
            self.elements -= shape.elements
        elif opcode == "parameter":
            attributes["number"] = scanner.integer()
        else:
            self._operands(operands, operands_at)
        scanner.demand(")")
        attributes |= self._attributes()
        operation = DenseOperation(
            name, opcode, shape, tuple(operands), attributes, literal, scanner.place(at)[0]
        )
        if opcode == "compare" and attributes.get("direction") not in _DIRECTIONS:
            scanner.fail(
                "compare has no direction", f"directions are {', '.join(_DIRECTIONS)}", at=opcode_at
            )
        reading.rows[name] = _PlacedOperation(operation, at, operands_at, opcode_at, layout)

    def _operands(self, operands: list[str], places: list[int]) -> None:
        """Names, with or without the types of their values before them."""
        scanner = self.scanner
        while not scanner.sees(")"):
            if _typed(scanner):
                read_shape(scanner)
            places.append(scanner.at)
            operands.append(scanner.name())
            if not scanner.sign(","):
                break

    def _verify_parameters(self, reading: _Reading) -> None:
        numbers: set[int] = set()
        rows = [row for row in reading.rows.values() if row.operation.opcode == "parameter"]
        for row in rows:
            number = row.operation.attributes["number"]
            if number in numbers or not 0 <= number < len(rows):
                self.scanner.fail(
                    f"{reading.name} has {counted(len(rows), 'parameter')}, and number {number} "
                    + ("is there twice" if number in numbers else "is none of them"),
                    "parameters are numbered from 0",
                    at=row.at,
                )
            numbers.add(number)

    def _verify_calls(self, readings: Mapping[str, _Reading]) -> None:
        for reading in readings.values():
            for row in reading.rows.values():
                for name in called(row.operation):
                    if name not in readings:
                        self.scanner.fail(
                            f"{row.operation.name} calls {name}, and there is no such computation",
                            _similar(name, readings),
                            at=row.calls_at,
                        )

    def _callees_first(self, readings: Mapping[str, _Reading]) -> list[_Reading]:
        calls = {
            reading.name: [name for row in reading.rows.values() for name in called(row.operation)]
            for reading in readings.values()
        }
        order = self._sorted(calls, lambda name: readings[name].at, "calls itself")
        return [readings[name] for name in order]

    def _ordered(self, reading: _Reading) -> DenseComputation:
        rows = reading.rows
        for row in rows.values():
            for operand, at in zip(row.operation.operands, row.operands_at, strict=True):
                if operand not in rows:
                    self.scanner.fail(
                        f"{row.operation.name} reads {operand}, and {reading.name} has no such "
                        "operation",
                        _similar(operand, rows),
                        at=at,
                    )
            if row.operation.opcode == "bitcast":
                self._lay_out(row, rows)
        reads = {name: row.operation.operands for name, row in rows.items()}
        order = self._sorted(reads, lambda name: rows[name].at, "reads its own value")
        root = reading.root or next(reversed(rows))
        return DenseComputation(reading.name, tuple(rows[name].operation for name in order), root)

    def _lay_out(self, row: _PlacedOperation, rows: Mapping[str, _PlacedOperation]) -> None:
        """Keep the layouts that a bitcast goes from and to, if one is not row-major."""
        operation = row.operation
        others = [rows[name] for name in operation.operands]
        if not others or (row.layout is None and others[0].layout is None):
            return
        layouts = {
            key: one.layout or row_major(one.operation.shape.rank)
            for key, one in (("operand_layout", others[0]), ("layout", row))
            if isinstance(one.operation.shape, TensorShape)
        }
        row.operation = replace(operation, attributes={**operation.attributes, **layouts})

    def _sorted(
        self, before: Mapping[str, Iterable[str]], place: Callable[[str], int], fault: str
    ) -> list[str]:
        """The names, each behind those that it needs, and else as they were."""
        seen: set[str] = set()
        if all(_all_known(needs, seen, name) for name, needs in before.items()):
            return list(before)
        try:
            return list(TopologicalSorter(before).static_order())
        except CycleError as problem:
            cycle = problem.args[1]
            first = min(cycle, key=place)
            self.scanner.fail(
                f"{first} {fault}", f"the cycle is {' <- '.join(cycle)}", at=place(first)
            )


def _all_known(needs: Iterable[str], seen: set[str], name: str) -> bool:
    known = all(one in seen for one in needs)
    seen.add(name)
    return known


_TYPE_BEFORE = re.compile(r"[a-z][a-z0-9]*\[|\(")


def _typed(scanner: HloScanner) -> bool:
    """True if a type stands here; names have no brackets."""
    return _TYPE_BEFORE.match(scanner.text, scanner.at) is not None


def _similar(name: str, names: Iterable[str]) -> str | None:
    near = closest([name], list(names)[:1_000])
    return f"did you mean {near}?" if near else None
