"""Pipelines as C++."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from fuseloom.calls.annotated import IntegerArgument
from fuseloom.calls.cpp_code import ELEMENTS, CppCode, CppRoutine, PartType
from fuseloom.calls.data_kinds import ArrayKind, DataKind
from fuseloom.calls.parts import PartFields
from fuseloom.calls.pipeline_nodes import (
    AdvanceWindowNode,
    AllocateNode,
    BeginWindowNode,
    ComputeNode,
    LoopNode,
    MoveWindowNode,
    QueryNode,
    RequireNode,
)
from fuseloom.calls.pipeline_writer import CodeLine, PipelineWriter
from fuseloom.calls.polynomial_code import CPP, code_of, variable_name
from fuseloom.calls.polynomials import DataField, Polynomial, Symbol
from fuseloom.calls.schedule import ScheduledCalls
from fuseloom.errors import LoweringError

_WORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t "
    "char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr "
    "constinit continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires "
    "return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void "
    "volatile wchar_t while xor xor_eq std routines fused workers PartError ArrayPart Room part_of "
    "copy_elements move_to_front run_parallel int64_t unix linux"
)
RESERVED = frozenset(_WORDS.split())
"""Names that C++, or what generated code builds on, uses for something else."""
NAMESPACE = "namespace routines {"
"""The line behind what every file begins with."""
UNCHANGED = ("query", "insert", "allocate", "free", "whole")
"""Functions of kinds of arrays that C++ has, too."""


def emit_cpp(scheduled: ScheduledCalls, workers: int = 1) -> CppCode:
    """Write pipelines as C++: one file, which calls routines of a namespace.

    Parameters
    ----------
    workers : int
        Threads of parallel loops.

    Raises
    ------
    LoweringError
        If there is data of a kind that C++ has not, or a call is given what is no number.

    Examples
    --------
    >>> from fuseloom.calls.annotated import DataHandle, annotate
    >>> from fuseloom.calls.composition import compose
    >>> from fuseloom.calls.data_kinds import Vector
    >>> from fuseloom.calls.schedule import schedule
    >>> exp = annotate(np.exp, '''t: Symbolic for x in [0, out.len, t] {
    ...     produces { out {start: x, len: t} } when consumes { a {start: x, len: t} } }''',
    ...     ["a", "out"])
    >>> a, b = (DataHandle(name, Vector()) for name in "ab")
    >>> code = emit_cpp(schedule(compose([exp(a, b)])))
    >>> print("\\n".join(line.text for line in code.lines[-9:]))
    void fused(const ArrayPart<double, 1>& a, const ArrayPart<double, 1>& b, int64_t t) {
        const int64_t b_len = b.extents[0];
        for (int64_t x = 0; x < b_len; x += t) {
            [[maybe_unused]] const int64_t t_len = std::min<int64_t>({b_len - x, t});
            const auto a_part = part_of(a, {x}, {t_len});
            const auto b_part = part_of(b, {x}, {t_len});
            routines::exp(a_part, b_part);
        }
    }
    """
    return _CppWriter(scheduled, workers).code


class _CppWriter(PipelineWriter):
    def __init__(self, scheduled: ScheduledCalls, workers: int) -> None:
        self.code = CppCode()
        super().__init__(scheduled, self.code.lines)
        self.names: dict[str | DataField, str] = {}
        self.signs = replace(CPP, variable=self._variable)
        self.routines: dict[tuple[int, tuple[PartType | str, ...]], CppRoutine] = {}
        parallel = any(isinstance(x, LoopNode) and x.parallel for x in scheduled.nodes())
        self.code.arrays = [_part_type(handle.name, handle.kind) for handle in self.handles]
        self.code.sizes = len(scheduled.parameters)
        self.code.workers = workers if parallel else None
        given = [
            f"const {kind.text}& {self._name(handle.name)}"
            for handle, kind in zip(self.handles, self.code.arrays, strict=True)
        ]
        given += [f"int64_t {self._name(x)}" for x in scheduled.parameters]
        given += ["int64_t workers"] if parallel else []
        self.line(0, f"void fused({', '.join(given)}) {{")
        for handle, name in self.extents():
            lengths = [pair.length for pair in handle.kind.dimensions]
            whole = self._name(handle.name)
            extent = f"{whole}.extents[{lengths.index(name)}]" if name in lengths else "0"
            variable = self._variable(DataField(handle.name, name))
            self.line(1, f"const int64_t {variable} = {extent};")
        self.nodes(scheduled.rooms, 1)
        for stage in scheduled.stages:
            several = len(scheduled.stages) > 1 and not isinstance(stage.body[0], LoopNode)
            if several:
                self.line(1, "{")
            self.nodes(stage.body, 1 + several)
            if several:
                self.line(1, "}")
        self.line(0, "}")
        self.code.routines = list(self.routines.values())
        self.code.lines[:0] = self._head()

    def _head(self) -> list[CodeLine]:
        """The lines before the function: helpers, and declarations of routines."""
        support = files("fuseloom.calls").joinpath("array_parts.hpp").read_text(encoding="utf-8")
        declared = [
            f"{routine.declaration([''] * len(routine.parameters))};"
            for routine in self.code.routines
        ]
        written = [*declared, *(line.text for line in self.code.lines)]
        complex_ = ["#include <complex>"] * any("std::complex" in text for text in written)
        lines = ["// Generated by Fuseloom.", *complex_, *support.splitlines(), "", NAMESPACE]
        lines += [re.sub(r" (?=[,)])", "", text) for text in declared]
        return [CodeLine(text) for text in (*lines, "}  // namespace routines", "")]

    def _variable(self, atom: Symbol | DataField) -> str:
        return self._name(atom.name if isinstance(atom, Symbol) else atom)

    def _name(self, name: str | DataField) -> str:
        """The name of a variable in C++."""
        if name not in self.names:
            plain = name if isinstance(name, str) else variable_name(name)
            text = "".join(x if x.isascii() else f"u{ord(x):x}" for x in plain)
            while text in RESERVED or text in self.names.values():
                text += "_"
            self.names[name] = text
        return self.names[name]

    def _code(self, value: Polynomial) -> str:
        return code_of(value, self.signs)

    def allocate(self, node: AllocateNode, depth: int) -> None:
        assert isinstance(node.kind, ArrayKind)
        extents = [self._code(node.fields[pair.length]) for pair in node.kind.dimensions]
        shape = ", ".join([*extents, *map(str, node.kind.rest)])
        kind = _part_type(node.name, node.kind).text.removeprefix("ArrayPart")
        self.line(depth, f"const Room{kind} {self._name(node.name)}({{{shape}}});", node)

    def query(self, node: QueryNode, depth: int) -> None:
        starts, extents = self._bounds(node.kind, node.fields)
        given = f"{self._name(node.source)}, {{{starts}}}, {{{extents}}}"
        self.line(depth, f"const auto {self._name(node.name)} = part_of({given});", node)

    def _bounds(self, kind: DataKind, fields: PartFields) -> tuple[str, str]:
        """The starts and the extents of a part, as lists of C++."""
        assert isinstance(kind, ArrayKind)
        starts = [self._code(fields[pair.start]) for pair in kind.dimensions]
        extents = [self._code(fields[pair.length]) for pair in kind.dimensions]
        rest = [str(extent) for extent in kind.rest]
        return ", ".join([*starts, *("0" for _ in rest)]), ", ".join([*extents, *rest])

    def compute(self, node: ComputeNode, depth: int) -> None:
        function = node.call.function
        given: list[str] = []
        kinds: list[PartType | str] = []
        for parameter in function.parameters:
            value = node.call.arguments[parameter]
            if parameter in node.parts:
                given.append(self._name(node.parts[parameter]))
                kinds.append(_part_type(value.name, value.kind))
            elif isinstance(value, IntegerArgument):
                given.append(self._name(value.name))
                kinds.append("int64_t")
            else:
                text, kind = _number(function.name, parameter, value)
                given.append(text)
                kinds.append(kind)
        key = id(function), tuple(kinds)
        if key not in self.routines:
            name = self._routine_name(function.name)
            self.routines[key] = CppRoutine(name, function.function, tuple(kinds))
        call = f"routines::{self.routines[key].name}({', '.join(given)});"
        self.line(depth, call, node)

    def _routine_name(self, name: str) -> str:
        text = "".join(x if x.isascii() else f"u{ord(x):x}" for x in name)
        text = text if text.isidentifier() else "call"
        taken = {routine.name for routine in self.routines.values()}
        number, found = 2, f"{text}_" if text in RESERVED else text
        while found in taken:
            found, number = f"{text}_{number}", number + 1
        return found

    def require(self, node: RequireNode, depth: int) -> None:
        condition = f"{self._code(node.bound.smaller)} > {self._code(node.bound.larger)}"
        error = f"PartError({json.dumps(node.message)})"
        self.line(depth, f"if ({condition}) throw {error};", node)

    def begin_window(self, node: BeginWindowNode, depth: int) -> None:
        ready, origin = self._name(node.window.ready), self._name(node.window.origin)
        self.line(depth, f"int64_t {ready} = {self._code(node.start)}, {origin} = {ready};", node)

    def move_window(self, node: MoveWindowNode, depth: int) -> None:
        window, start = node.window, self._code(node.window.start)
        ready, origin, room = (self._name(x) for x in (window.ready, window.origin, node.room))
        axis = node.kind.dimensions.index(window.pair)
        moved = f"{room}, {axis}, {start} - {origin}, {ready} - ({start})"
        self.line(depth, f"{ready} = std::max<int64_t>({ready}, {start});", node)
        self.line(depth, f"move_to_front({moved});", node)
        self.line(depth, f"{origin} = {start};", node)

    def advance_window(self, node: AdvanceWindowNode, depth: int) -> None:
        ready = self._name(node.window.ready)
        self.line(depth, f"{ready} = {self._code(node.window.end)};", node)

    def loop(self, node: LoopNode, depth: int) -> None:
        loop = node.loop
        variable = self._name(loop.variable)
        start, end, step = map(self._code, (loop.start, loop.end, loop.step))
        if node.parallel:
            bounds = f"{start}, {end}, {step}, workers"
            self.line(depth, f"run_parallel({bounds}, [&](int64_t {variable}) {{", node)
        else:
            bounds = f"int64_t {variable} = {start}; {variable} < {end}; {variable} += {step}"
            self.line(depth, f"for ({bounds}) {{", node)
        if loop.length:
            length = f"{self._name(loop.length)} = {self._code(loop.clipped)}"
            self.line(depth + 1, f"[[maybe_unused]] const int64_t {length};", node)
        self.nodes(node.body, depth + 1)
        self.line(depth, "});" if node.parallel else "}", node)


def _part_type(name: str, kind: DataKind) -> PartType:
    """The type of parts of a data structure."""
    own = isinstance(kind, ArrayKind) and all(
        getattr(type(kind), x) in (getattr(ArrayKind, x), getattr(DataKind, x)) for x in UNCHANGED
    )
    if not isinstance(kind, ArrayKind) or not own or kind.dtype.name not in ELEMENTS:
        what = f"a {kind.name}" if not own else f"an array of {getattr(kind, 'dtype', '')}"
        raise LoweringError(
            f"{name} is {what}, of which C++ has no parts", hint="use the generated Python"
        )
    return PartType(kind.dtype, len(kind.dimensions) + len(kind.rest))


def _number(function: str, parameter: str, value: Any) -> tuple[str, str]:
    """A number in C++, and its type."""
    if isinstance(value, (bool, np.bool_)):
        return ("true" if value else "false"), "bool"
    if isinstance(value, (int, np.integer)) and -(2**63) < value < 2**63:
        return f"{int(value)}", "int64_t"
    if isinstance(value, (float, np.floating)):
        return _float(float(value)), "double"
    raise LoweringError(
        f"{function} is given {value!r:.60} for {parameter}, and C++ passes numbers alone",
        hint="use the generated Python, or a function that has the value in it",
    )


def _float(value: float) -> str:
    """A number with all its digits."""
    limits = "std::numeric_limits<double>"
    if math.isnan(value):
        return f"{limits}::quiet_NaN()"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}{limits}::infinity()"
    return repr(value)
