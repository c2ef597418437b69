"""Pipelines as Python."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from fuseloom.calls.annotated import IntegerArgument
from fuseloom.calls.composition import RESERVED
from fuseloom.calls.data_kinds import ArrayKind, DataKind
from fuseloom.calls.parts import PartFields
from fuseloom.calls.pipeline_nodes import (
    AdvanceWindowNode,
    AllocateNode,
    BeginWindowNode,
    ComputeNode,
    FreeNode,
    InsertNode,
    LoopNode,
    MoveWindowNode,
    QueryNode,
    RequireNode,
)
from fuseloom.calls.pipeline_writer import GeneratedCode, PipelineWriter
from fuseloom.calls.polynomial_code import PYTHON, code_of, variable_name
from fuseloom.calls.polynomials import DataField, Polynomial, Symbol
from fuseloom.calls.schedule import ScheduledCalls
from fuseloom.errors import DataError


@dataclass
class PythonCode(GeneratedCode):
    """A pipeline as Python.

    Attributes
    ----------
    names : dict
        What the code refers to: functions, kinds, NumPy.
    """

    names: dict[str, Any] = field(default_factory=dict)

    def compile(self) -> Callable[..., None]:
        """The function ``fused``, which takes data structures, sizes of tiles and integers."""
        module = compile(self.source, "<fused calls>", "exec")
        (code,) = (constant for constant in module.co_consts if isinstance(constant, CodeType))
        return FunctionType(code, dict(self.names), "fused")


def run_parallel(body: Callable[[int], None], starts: Iterable[int], workers: int) -> None:
    """Run a body for each start, on several threads; the first error is raised.

    Within such a body another parallel loop runs on the thread that it is on.

    Examples
    --------
    >>> seen = []
    >>> run_parallel(seen.append, range(3), workers=1)
    >>> seen
    [0, 1, 2]
    """
    if workers < 2 or getattr(_THREAD, "inside", False):
        for start in starts:
            body(start)
        return

    def run(start: int) -> None:
        _THREAD.inside = True
        body(start)

    for _ in _pool(workers).map(run, starts):
        pass


def require(condition: bool, message: str) -> None:
    """Refuse to go on where a condition does not hold.

    Raises
    ------
    DataError
    """
    if not condition:
        raise DataError(message, hint="choose smaller tiles")


_POOLS: dict[int, ThreadPoolExecutor] = {}
_LOCK = threading.Lock()
_THREAD = threading.local()


def _pool(workers: int) -> ThreadPoolExecutor:
    with _LOCK:
        if workers not in _POOLS:
            _POOLS[workers] = ThreadPoolExecutor(workers, thread_name_prefix="fused-calls")
        return _POOLS[workers]


def emit_python(scheduled: ScheduledCalls, workers: int = 1) -> PythonCode:
    """Write pipelines as Python.

    Parameters
    ----------
    workers : int
        Threads of parallel loops.

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
    >>> print(emit_python(schedule(compose([exp(a, b)]))).source)
    def fused(a, b, t):
        b_len = kind_b.whole(b)['len']
        for x in range(0, b_len, t):
            t_len = min(b_len - x, t)
            a_part = a[x:t_len + x]
            b_part = b[x:t_len + x]
            exp(a_part, b_part)
    <BLANKLINE>
    """
    return _PythonWriter(scheduled, workers).code


class _PythonWriter(PipelineWriter):
    def __init__(self, scheduled: ScheduledCalls, workers: int) -> None:
        names = {"np": np, "run_parallel": run_parallel, "require": require, "workers": workers}
        self.code = PythonCode(names=names)
        super().__init__(scheduled, self.code.lines)
        self.functions: dict[int, str] = {}
        self.fields: dict[DataField, str] = {}
        self.variables = self._variables()
        self.signs = replace(PYTHON, variable=self._variable)
        given = [handle.name for handle in self.handles]
        self.line(0, f"def fused({', '.join([*given, *scheduled.parameters])}):")
        self.kinds = {handle: self._fresh(f"kind_{handle.name}") for handle in self.handles}
        for handle, name in self.kinds.items():
            self.code.names[name] = handle.kind
        for handle, name in self.extents():
            whole = f"{self.kinds[handle]}.whole({handle.name})[{name!r}]"
            self.line(1, f"{self._variable(DataField(handle.name, name))} = {whole}")
        self.nodes(scheduled.rooms, 1)
        for stage in scheduled.stages:
            self.nodes(stage.body, 1)

    def _variables(self) -> set[str]:
        """Names that the code gives to variables."""
        found = {handle.name for handle in self.handles} | {*self.scheduled.parameters}
        for node in self.scheduled.nodes():
            match node:
                case AllocateNode(name) | QueryNode(name):
                    found.add(name)
                case LoopNode(loop):
                    found |= {loop.variable, loop.length, f"tile_{loop.variable}"}
                case BeginWindowNode(window):
                    found |= {window.ready, window.origin}
        return found

    def _variable(self, atom: Symbol | DataField) -> str:
        """The Python variable of a symbol, or of a field of a data structure."""
        if isinstance(atom, Symbol):
            return atom.name
        if atom not in self.fields:
            self.fields[atom] = self._fresh(variable_name(atom))
            self.variables.add(self.fields[atom])
        return self.fields[atom]

    def _code(self, value: Polynomial) -> str:
        return code_of(value, self.signs)

    def _fresh(self, name: str) -> str:
        """A name for something that the code refers to."""
        while name in self.code.names or name in self.variables or name in RESERVED:
            name += "_"
        return name

    def allocate(self, node: AllocateNode, depth: int) -> None:
        self.line(depth, f"{node.name} = {self._allocation(node.kind, node.fields)}", node)

    def query(self, node: QueryNode, depth: int) -> None:
        part = self._query(node.source, node.kind, node.fields)
        self.line(depth, f"{node.name} = {part}", node)

    def compute(self, node: ComputeNode, depth: int) -> None:
        self.line(depth, self._call(node), node)

    def require(self, node: RequireNode, depth: int) -> None:
        condition = f"{self._code(node.bound.smaller)} <= {self._code(node.bound.larger)}"
        self.line(depth, f"require({condition}, {node.message!r})", node)

    def insert(self, node: InsertNode, depth: int) -> None:
        if type(node.kind).insert is not DataKind.insert:
            given = f"{node.target}, {self._fields(node.kind, node.fields)}, {node.part}"
            self.line(depth, f"{self._kind(node.kind)}.insert({given})", node)

    def begin_window(self, node: BeginWindowNode, depth: int) -> None:
        window = node.window
        self.line(depth, f"{window.ready} = {window.origin} = {self._code(node.start)}", node)

    def move_window(self, node: MoveWindowNode, depth: int) -> None:
        window, start = node.window, self._code(node.window.start)
        ready, origin, room = window.ready, window.origin, node.room
        before = ":, " * node.kind.dimensions.index(window.pair)
        kept = f"{room}[{before}{start} - {origin}:{ready} - {origin}]"
        self.line(depth, f"{ready} = max({ready}, {start})", node)
        self.line(depth, f"{room}[{before}:{ready} - ({start})] = {kept}.copy()", node)
        self.line(depth, f"{origin} = {start}", node)

    def advance_window(self, node: AdvanceWindowNode, depth: int) -> None:
        self.line(depth, f"{node.window.ready} = {self._code(node.window.end)}", node)

    def free(self, node: FreeNode, depth: int) -> None:
        if type(node.kind).free is not DataKind.free:
            self.line(depth, f"{self._kind(node.kind)}.free({node.name})", node)

    def loop(self, node: LoopNode, depth: int) -> None:
        loop = node.loop
        starts = f"range({self._code(loop.start)}, {self._code(loop.end)}, {self._code(loop.step)})"
        if node.parallel:
            self.line(depth, f"def tile_{loop.variable}({loop.variable}):", node)
        else:
            self.line(depth, f"for {loop.variable} in {starts}:", node)
        if loop.length:
            self.line(depth + 1, f"{loop.length} = {self._code(loop.clipped)}", node)
        self.nodes(node.body, depth + 1)
        if node.parallel:
            self.line(depth, f"run_parallel(tile_{loop.variable}, {starts}, workers)", node)

    def _kind(self, kind: DataKind) -> str:
        for name, known in self.code.names.items():
            if known is kind:
                return name
        name = self._fresh(f"kind_{len(self.code.names)}")
        self.code.names[name] = kind
        return name

    def _allocation(self, kind: DataKind, fields: PartFields) -> str:
        if not isinstance(kind, ArrayKind):
            return f"{self._kind(kind)}.allocate({self._fields(kind, fields)})"
        extents = [self._code(fields[pair.length]) for pair in kind.dimensions]
        shape = ", ".join([*extents, *map(str, kind.rest)])
        return f"np.empty(({shape},), {kind.dtype.name!r})"

    def _query(self, source: str, kind: DataKind, fields: PartFields) -> str:
        if not isinstance(kind, ArrayKind):
            return f"{self._kind(kind)}.query({source}, {self._fields(kind, fields)})"
        ranges = [
            f"{self._code(fields[x.start])}:{self._code(fields[x.start] + fields[x.length])}"
            for x in kind.dimensions
        ]
        return f"{source}[{', '.join(ranges)}]"

    def _call(self, node: ComputeNode) -> str:
        function = node.call.function
        name = self.functions.get(id(function))
        if name is None:
            name = self._fresh(function.name if function.name.isidentifier() else "call")
            self.functions[id(function)] = name
            self.code.names[name] = function.function
        given = []
        for parameter in function.parameters:
            value = node.call.arguments[parameter]
            if parameter in node.parts:
                given.append(node.parts[parameter])
            elif isinstance(value, IntegerArgument):
                given.append(value.name)
            elif isinstance(value, (int, float, bool)) and math.isfinite(value):
                given.append(repr(value))
            else:
                constant = self._fresh("value")
                self.code.names[constant] = value
                given.append(constant)
        return f"{name}({', '.join(given)})"

    def _fields(self, kind: DataKind, fields: PartFields) -> str:
        given = (f"{name!r}: {self._code(fields[name])}" for name in kind.fields)
        return "{" + ", ".join(given) + "}"
