"""Pipelines as Python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from fuseloom.calls.annotated import DataHandle, IntegerArgument
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
    PipelineNode,
    QueryNode,
)
from fuseloom.calls.polynomial_code import code_of, variable_name
from fuseloom.calls.polynomials import DataField, Polynomial
from fuseloom.calls.schedule import ScheduledCalls


@dataclass(frozen=True)
class CodeLine:
    """A line of code, and the node that it comes from.

    Attributes
    ----------
    text : str
    node : int or None
        The number of the node in :meth:`ScheduledCalls.nodes`.
    """

    text: str
    node: int | None = None


@dataclass
class PythonCode:
    """A pipeline as Python.

    Attributes
    ----------
    lines : list of CodeLine
    names : dict
        What the code refers to: functions, kinds, NumPy.
    """

    lines: list[CodeLine] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The code as text."""
        return "\n".join(line.text for line in self.lines) + "\n"

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
    >>> from fuseloom.calls.annotated import annotate
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


class _PythonWriter:
    def __init__(self, scheduled: ScheduledCalls, workers: int) -> None:
        self.scheduled = scheduled
        self.code = PythonCode(names={"np": np, "run_parallel": run_parallel, "workers": workers})
        self.numbers = {id(node): number for number, node in enumerate(scheduled.nodes())}
        self.functions: dict[int, str] = {}
        self.variables = self._variables()
        handles = self._handles
        given = [handle.name for handle in handles]
        self._line(0, f"def fused({', '.join([*given, *scheduled.parameters])}):")
        self.kinds = {handle: self._fresh(f"kind_{handle.name}") for handle in handles}
        for handle, name in self.kinds.items():
            self.code.names[name] = handle.kind
        self._extents(handles)
        self._nodes(scheduled.rooms, 1)
        for stage in scheduled.stages:
            self._nodes(stage.body, 1)

    def _variables(self) -> set[str]:
        """Names that the code gives to variables."""
        found = {handle.name for handle in self._handles} | {*self.scheduled.parameters}
        for node in self.scheduled.nodes():
            match node:
                case AllocateNode(name) | QueryNode(name):
                    found.add(name)
                case LoopNode(loop):
                    found |= {loop.variable, loop.length, f"tile_{loop.variable}"}
                case BeginWindowNode(window):
                    found |= {window.ready, window.origin}
        for handle in self._handles:
            found |= {variable_name(DataField(handle.name, x)) for x in handle.kind.fields}
        return found

    def _fresh(self, name: str) -> str:
        """A name for something that the code refers to."""
        while name in self.code.names or name in self.variables or name in RESERVED:
            name += "_"
        return name

    def _line(self, depth: int, text: str, node: PipelineNode | None = None) -> None:
        number = None if node is None else self.numbers[id(node)]
        self.code.lines.append(CodeLine(f"{'    ' * depth}{text}", number))

    def _extents(self, handles: Iterable[DataHandle]) -> None:
        """Variables for the fields of whole data structures that are used."""
        used = {
            atom
            for value in self._values()
            for atom in value.atoms()
            if isinstance(atom, DataField)
        }
        for handle in handles:
            for name in handle.kind.fields:
                atom = DataField(handle.name, name)
                if atom in used:
                    whole = f"{self.kinds[handle]}.whole({handle.name})[{name!r}]"
                    self._line(1, f"{variable_name(atom)} = {whole}")

    @property
    def _handles(self) -> tuple[DataHandle, ...]:
        composition = self.scheduled.composition
        return (*composition.given, composition.result)

    def _values(self) -> Iterator[Polynomial]:
        yield from _values(self.scheduled.rooms)
        for stage in self.scheduled.stages:
            yield from _values(stage.body)

    def _nodes(self, nodes: Iterable[PipelineNode], depth: int) -> None:
        for node in nodes:
            match node:
                case LoopNode():
                    self._loop(node, depth)
                case AllocateNode(name, kind, fields):
                    self._line(depth, f"{name} = {self._allocation(kind, fields)}", node)
                case QueryNode(name, source, kind, fields):
                    self._line(depth, f"{name} = {self._query(source, kind, fields)}", node)
                case ComputeNode():
                    self._line(depth, self._call(node), node)
                case InsertNode(part, target, kind, fields):
                    if type(kind).insert is not DataKind.insert:
                        text = f"{self._kind(kind)}.insert({target}, {_fields(kind, fields)}, "
                        self._line(depth, f"{text}{part})", node)
                case BeginWindowNode(window, start):
                    text = f"{window.ready} = {window.origin} = {code_of(start)}"
                    self._line(depth, text, node)
                case MoveWindowNode():
                    self._move(node, depth)
                case AdvanceWindowNode(window):
                    self._line(depth, f"{window.ready} = {code_of(window.end)}", node)
                case FreeNode(name, kind):
                    if type(kind).free is not DataKind.free:
                        self._line(depth, f"{self._kind(kind)}.free({name})", node)

    def _move(self, node: MoveWindowNode, depth: int) -> None:
        """Move what is computed already to the front of its room."""
        window, start = node.window, code_of(node.window.start)
        ready, origin, room = window.ready, window.origin, node.room
        before = ":, " * node.kind.dimensions.index(window.pair)
        kept = f"{room}[{before}{start} - {origin}:{ready} - {origin}]"
        self._line(depth, f"{ready} = max({ready}, {start})", node)
        self._line(depth, f"{room}[{before}:{ready} - ({start})] = {kept}.copy()", node)
        self._line(depth, f"{origin} = {start}", node)

    def _loop(self, node: LoopNode, depth: int) -> None:
        loop = node.loop
        starts = f"range({code_of(loop.start)}, {code_of(loop.end)}, {code_of(loop.step)})"
        if node.parallel:
            self._line(depth, f"def tile_{loop.variable}({loop.variable}):", node)
        else:
            self._line(depth, f"for {loop.variable} in {starts}:", node)
        if loop.length:
            self._line(depth + 1, f"{loop.length} = {code_of(loop.clipped)}", node)
        self._nodes(node.body, depth + 1)
        if node.parallel:
            self._line(depth, f"run_parallel(tile_{loop.variable}, {starts}, workers)", node)

    def _kind(self, kind: DataKind) -> str:
        for name, known in self.code.names.items():
            if known is kind:
                return name
        name = self._fresh(f"kind_{len(self.code.names)}")
        self.code.names[name] = kind
        return name

    def _allocation(self, kind: DataKind, fields: PartFields) -> str:
        if not isinstance(kind, ArrayKind):
            return f"{self._kind(kind)}.allocate({_fields(kind, fields)})"
        extents = [code_of(fields[pair.length]) for pair in kind.dimensions]
        shape = ", ".join([*extents, *map(str, kind.rest)])
        return f"np.empty(({shape},), {kind.dtype.name!r})"

    def _query(self, source: str, kind: DataKind, fields: PartFields) -> str:
        if not isinstance(kind, ArrayKind):
            return f"{self._kind(kind)}.query({source}, {_fields(kind, fields)})"
        ranges = [
            f"{code_of(fields[x.start])}:{code_of(fields[x.start] + fields[x.length])}"
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
            elif isinstance(value, (int, float, bool)):
                given.append(repr(value))
            else:
                constant = self._fresh("value")
                self.code.names[constant] = value
                given.append(constant)
        return f"{name}({', '.join(given)})"


def _fields(kind: DataKind, fields: PartFields) -> str:
    return "{" + ", ".join(f"{name!r}: {code_of(fields[name])}" for name in kind.fields) + "}"


def _values(nodes: Iterable[PipelineNode]) -> Iterator[Polynomial]:
    for node in nodes:
        if isinstance(node, LoopNode):
            yield from (node.loop.start, node.loop.end, node.loop.step)
            yield from _values(node.body)
        else:
            fields: Mapping[str, Polynomial] = getattr(node, "fields", {})
            yield from fields.values()
