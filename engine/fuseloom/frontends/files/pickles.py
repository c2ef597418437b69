"""Old pickles of arrays and sparse matrices, read without unpickling anything.

A pickle is a program for a stack machine that may call any function.  This one runs the part of
the machine that builds plain data, and only notes which of a few known functions would be called
with what (:class:`PickledCall`): no function is looked up, imported or called.  Everything else is
refused.  Source: the ``pickletools`` module of Python, which describes the operations.

A ``pickle.Unpickler`` that finds only known names does not suffice: it computes hashes of keys, and
that of a tuple a million tuples deep ends the process; it also makes room for a memo of any size.
"""

from __future__ import annotations

import pickletools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fuseloom.errors import DataError
from fuseloom.frontends.files.limits import MAX_PICKLE_BYTES, MAX_PICKLE_STEPS
from fuseloom.frontends.files.packed import size_of
from fuseloom.program import regular_files


class PermittedName(Enum):
    """Functions and classes that a pickle may name."""

    RECONSTRUCT = "numpy._core.multiarray._reconstruct"
    FROM_BUFFER = "numpy._core.numeric._frombuffer"
    SCALAR = "numpy._core.multiarray.scalar"
    NDARRAY = "numpy.ndarray"
    DTYPE = "numpy.dtype"
    CSR = "scipy.sparse.csr_matrix"
    DEFAULTDICT = "collections.defaultdict"
    LIST = "list"
    INT = "int"
    OBJECT = "object"
    BYTES = "bytes"
    ENCODE = "_codecs.encode"
    NEW = "copyreg._reconstructor"


_GLOBALS = MappingProxyType(
    {
        **{
            (f"numpy.{core}.{module}", name): permitted
            for core in ("core", "_core")
            for module, name, permitted in (
                ("multiarray", "_reconstruct", PermittedName.RECONSTRUCT),
                ("multiarray", "scalar", PermittedName.SCALAR),
                ("numeric", "_frombuffer", PermittedName.FROM_BUFFER),
            )
        },
        ("numpy", "ndarray"): PermittedName.NDARRAY,
        ("numpy", "dtype"): PermittedName.DTYPE,
        ("scipy.sparse.csr", "csr_matrix"): PermittedName.CSR,
        ("scipy.sparse._csr", "csr_matrix"): PermittedName.CSR,
        ("scipy.sparse", "csr_matrix"): PermittedName.CSR,
        ("collections", "defaultdict"): PermittedName.DEFAULTDICT,
        ("_codecs", "encode"): PermittedName.ENCODE,
        ("copy_reg", "_reconstructor"): PermittedName.NEW,
        ("copyreg", "_reconstructor"): PermittedName.NEW,
        **{(b, k.value): k for b in ("__builtin__", "builtins") for k in
           (PermittedName.LIST, PermittedName.INT, PermittedName.OBJECT, PermittedName.BYTES)},
    }
)  # fmt: skip


@dataclass(eq=False)
class PickledCall:
    """A call that a pickle would have made, and the state it would have set afterwards."""

    function: PermittedName
    arguments: tuple[Any, ...]
    state: Any = None


def read_pickle(path: str | Path) -> Any:
    """Read the values of a pickle: numbers, strings, lists, tuples, dictionaries and calls.

    Raises
    ------
    DataError
        If the pickle is damaged, too long, or names or does anything that is not known.
    """
    if size_of(Path(path)) > MAX_PICKLE_BYTES:
        raise DataError(f"{path} is larger than {MAX_PICKLE_BYTES:,} bytes", hint="it is too large")
    return parse_pickle(regular_files.content(path, MAX_PICKLE_BYTES), str(path))


def parse_pickle(content: bytes, origin: str) -> Any:
    """The same of the content of a file; see :func:`read_pickle`."""
    machine = _Machine()
    where: int | None = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in old strings
            for step, (operation, argument, position) in enumerate(pickletools.genops(content)):
                where = position
                if step > MAX_PICKLE_STEPS:
                    raise _RefusedPickleError(f"more than {MAX_PICKLE_STEPS:,} operations")
                if operation.name == "STOP":
                    return machine.pop()
                machine.run(operation.name, argument)
    except _RefusedPickleError as problem:
        raise DataError(
            f"{origin}, byte {where}: {problem}",
            hint="nothing was executed; only arrays, csr matrices, lists and dictionaries are read",
        ) from None
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, RecursionError) as problem:
        reason = " ".join(str(problem)[:120].split())
        raise DataError(
            f"{origin}, byte {where}: no such pickle can be: {reason}",
            hint="the file may be cut short or damaged",
        ) from None
    raise DataError(f"{origin} does not end", hint="the file may be cut short")


class _RefusedPickleError(Exception):
    """An operation that plain data do not need."""


_PUSH = (
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
)
_CONSTANTS = MappingProxyType({"NONE": None, "NEWTRUE": True, "NEWFALSE": False})
_EMPTY: MappingProxyType[str, Callable[[], Any]] = MappingProxyType(
    {"EMPTY_TUPLE": tuple, "EMPTY_LIST": list, "EMPTY_DICT": dict}
)
_TUPLES = MappingProxyType({"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3})


class _Machine:
    """The stack, the marks in it, and the memo."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def pop(self) -> Any:
        if not self.stack or (self.marks and self.marks[-1] >= len(self.stack)):
            raise ValueError("the stack is empty")
        return self.stack.pop()

    def top(self, kind: type[Any]) -> Any:
        if not self.stack or type(self.stack[-1]) is not kind:
            raise ValueError(f"no {kind.__name__} on the stack")
        return self.stack[-1]

    def marked(self) -> list[Any]:
        """Everything above the last mark."""
        if not self.marks:
            raise ValueError("there is no mark")
        begin = self.marks.pop()
        above = self.stack[begin:]
        del self.stack[begin:]
        return above

    def run(self, name: str, argument: Any) -> None:
        """One operation.

        Raises
        ------
        _RefusedPickleError
            If it is none that plain data need.
        """
        if name in _PUSH:
            self.stack.append(bytes(argument) if isinstance(argument, bytearray) else argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name in _TUPLES:
            parts = [self.pop() for _ in range(_TUPLES[name])]
            self.stack.append(tuple(parts[::-1]))
        else:
            operation = getattr(self, f"_{name.lower()}", None)
            if operation is None:
                raise _RefusedPickleError(f"the operation {name} is not allowed")
            operation(argument)

    def _proto(self, _: Any) -> None:
        pass

    def _frame(self, _: Any) -> None:
        pass

    def _mark(self, _: Any) -> None:
        self.marks.append(len(self.stack))

    def _tuple(self, _: Any) -> None:
        self.stack.append(tuple(self.marked()))

    def _list(self, _: Any) -> None:
        self.stack.append(self.marked())

    def _dict(self, _: Any) -> None:
        made: dict[Any, Any] = {}
        _fill(made, self.marked())
        self.stack.append(made)

    def _append(self, _: Any) -> None:
        item = self.pop()
        self.top(list).append(item)

    def _appends(self, _: Any) -> None:
        items = self.marked()
        self.top(list).extend(items)

    def _setitem(self, _: Any) -> None:
        value, key = self.pop(), self.pop()
        _fill(self.top(dict), [key, value])

    def _setitems(self, _: Any) -> None:
        items = self.marked()
        _fill(self.top(dict), items)

    def _put(self, argument: Any) -> None:
        self.memo[argument] = self.stack[-1]

    _binput = _long_binput = _put

    def _memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def _get(self, argument: Any) -> None:
        self.stack.append(self.memo[argument])

    _binget = _long_binget = _get

    def _global(self, argument: Any) -> None:
        module, _, name = argument.partition(" ")
        self.stack.append(_named(module, name))

    def _stack_global(self, _: Any) -> None:
        name, module = self.pop(), self.pop()
        self.stack.append(_named(module, name))

    def _newobj(self, _: Any) -> None:
        arguments, kind = self.pop(), self.pop()
        if kind is not PermittedName.CSR or arguments != ():
            raise _RefusedPickleError(f"an object of {_shown(kind)} is not allowed")
        self.stack.append(PickledCall(kind, ()))

    def _reduce(self, _: Any) -> None:
        arguments, function = self.pop(), self.pop()
        if type(arguments) is not tuple:
            raise ValueError("a call without arguments")
        self.stack.append(_called(function, arguments))

    def _build(self, _: Any) -> None:
        state, target = self.pop(), self.top(PickledCall)
        if target.state is not None or target.function not in (
            PermittedName.RECONSTRUCT, PermittedName.DTYPE, PermittedName.CSR
        ):  # fmt: skip
            raise _RefusedPickleError("this state is not allowed")
        target.state = state


def _fill(target: dict[Any, Any], items: list[Any]) -> None:
    if len(items) % 2:
        raise ValueError("a key without a value")
    for key, value in zip(items[::2], items[1::2], strict=True):
        if not isinstance(key, int | str) and not _scalar(key):
            raise _RefusedPickleError("a key that is neither an integer nor a string")
        target[key] = value


def _named(module: Any, name: Any) -> PermittedName:
    texts = isinstance(module, str) and isinstance(name, str)
    if not texts or (module, name) not in _GLOBALS:
        raise _RefusedPickleError(f"the name {str(module)[:60]}.{str(name)[:60]} is not allowed")
    return _GLOBALS[module, name]


def _scalar(thing: Any) -> bool:
    return isinstance(thing, PickledCall) and thing.function is PermittedName.SCALAR


def _shown(thing: Any) -> str:
    return thing.value if isinstance(thing, PermittedName) else type(thing).__name__


def _called(function: Any, arguments: tuple[Any, ...]) -> Any:
    match function, arguments:
        case PermittedName.ENCODE, (str(text), "latin1" | "latin-1"):
            return text.encode("latin-1")
        case PermittedName.BYTES, ():  # how the second protocol writes no bytes at all
            return b""
        case PermittedName.DEFAULTDICT, () | (PermittedName.LIST | PermittedName.INT,):
            return {}
        case PermittedName.NEW, (PermittedName.CSR, PermittedName.OBJECT, None):
            return PickledCall(PermittedName.CSR, ())
        case PermittedName.RECONSTRUCT, (PermittedName.NDARRAY, *_):
            return PickledCall(PermittedName.RECONSTRUCT, arguments)
        case PermittedName.DTYPE | PermittedName.FROM_BUFFER | PermittedName.SCALAR, _:
            return PickledCall(function, arguments)
    raise _RefusedPickleError(f"a call of {_shown(function)} is not allowed here")
