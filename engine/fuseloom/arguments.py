"""The check of what public functions are given, by the types that they declare."""

from __future__ import annotations

import collections.abc as abc
import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache, wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

from fuseloom.errors import FuseloomError

_P = ParamSpec("_P")
_R = TypeVar("_R")


class ArgumentError(FuseloomError, TypeError):
    """An argument of another type than a function takes."""

    rule = "argument"


def check_arguments(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Have a function refuse arguments of other types than it declares.

    Types are those of the annotations: classes, unions, containers and what is in them.  What is
    read only once, such as an iterator, and annotations of other kinds are left alone.

    Raises
    ------
    ArgumentError
        By the function that is returned, naming the argument and what it takes.

    Examples
    --------
    >>> @check_arguments
    ... def half(number: float) -> float:
    ...     return number / 2
    >>> half("1")
    Traceback (most recent call last):
    ...
    fuseloom.arguments.ArgumentError: half takes a number as number, not the text '1'
    """
    signature = inspect.signature(function)

    @cache
    def declared() -> Mapping[str, Any]:
        return typing.get_type_hints(function)

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            kind = signature.parameters[name].kind
            plain = kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
            if plain and name in declared() and not _fits(value, declared()[name]):
                _refuse(function.__name__, name, value, declared()[name])
        return function(*args, **kwargs)

    return call


def check_fields(record: Any) -> None:
    """Refuse values of other types than the fields of a dataclass declare.

    Raises
    ------
    ArgumentError
        Naming the field and what it takes.
    """
    kind: Any = type(record)
    if kind not in _DECLARED:
        hints = typing.get_type_hints(kind)
        _DECLARED[kind] = {f.name: hints[f.name] for f in dataclasses.fields(kind)}
    for name, wanted in _DECLARED[kind].items():
        if not _fits(value := getattr(record, name), wanted):
            _refuse(kind.__name__, name, value, wanted)


_DECLARED: dict[type, dict[str, Any]] = {}
"""The types of fields, by dataclass."""


def _refuse(function: str, name: str, value: object, wanted: Any) -> None:
    kinds = [k for k in (typing.get_args(wanted) if _is_union(wanted) else (wanted,)) if k]
    *others, last = dict.fromkeys(_called(kind) for kind in kinds if kind is not types.NoneType)
    ways = (_WAYS.get((getattr(k, "__name__", ""), type(value).__name__)) for k in kinds)
    takes = f"{', '.join(others)} or {last}" if others else last
    raise ArgumentError(
        f"{function} takes {takes} as {name}, not {kind_of(value)}",
        hint=next(filter(None, ways), None),
    )


_WAYS = {
    ("Program", "str"): "fuseloom.parse makes a program of a text",
    ("Compilation", "Program"): "fuseloom.compile makes one of a program",
    ("Compilation", "str"): "fuseloom.compile makes one of what fuseloom.parse gives",
    ("Graph", "Compilation"): "each of its regions has a graph",
}
"""Hints: how to make an object of the first type out of one of the second."""

_WORDS: Mapping[Any, str] = {
    str: "text", float: "a number", int: "an integer", bool: "True or False", bytes: "bytes",
    abc.Mapping: "a mapping", abc.Sequence: "a sequence", abc.Iterable: "an iterable",
    abc.Collection: "a collection", abc.Callable: "a function", tuple: "a tuple",
}  # fmt: skip


def _called(wanted: Any) -> str:
    origin = typing.get_origin(wanted) or wanted
    if origin in _WORDS:
        args = [a for a in typing.get_args(wanted) if a not in (Any, Ellipsis)]
        inside = f" of {_called(args[-1]).removeprefix('a ').removeprefix('an ')}" if args else ""
        return _WORDS[origin] + (inside if origin is abc.Sequence else "")
    name = getattr(origin, "__name__", str(origin))
    return f"an {name}" if name[:1] in "AEIO" else f"a {name}"


def kind_of(value: object) -> str:
    """Name a value as far as it is short, or else its type.

    >>> kind_of("4"), kind_of([4])
    ("the text '4'", 'a list')
    """
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a huge integer"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return f"{'an' if type(value).__name__[:1] in 'aeiouAEIO' else 'a'} {type(value).__name__}"


def _is_union(wanted: Any) -> bool:
    return typing.get_origin(wanted) in (typing.Union, types.UnionType)


def _fits(value: Any, wanted: Any) -> bool:
    """Return whether a value is of a declared type; True where that is not known."""
    if wanted is Any or isinstance(wanted, TypeVar):
        return True
    if wanted is None or wanted is types.NoneType:
        return value is None
    args, origin = typing.get_args(wanted), typing.get_origin(wanted)
    if _is_union(wanted):
        return any(_fits(value, kind) for kind in args)
    match origin or wanted:
        case abc.Callable:
            return callable(value)
        case builtin if builtin is float:
            return isinstance(value, Real) and not isinstance(value, bool | np.bool_)
        case builtin if builtin is int:
            return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
        case builtin if builtin is bool:
            return isinstance(value, bool | np.bool_)
        case abc.Mapping:
            return isinstance(value, abc.Mapping) and _mapping_fits(value, args)
        case kind if isinstance(kind, type):
            return _instance(value, kind) and _elements_fit(value, kind, args)
    return True


def _instance(value: Any, kind: type) -> bool:
    if kind in (abc.Sequence, abc.Iterable, abc.Collection) and isinstance(value, str | bytes):
        return False
    if kind is abc.Sequence and isinstance(value, np.ndarray):
        return value.ndim == 1
    try:
        return isinstance(value, kind)
    except TypeError:  # a protocol that cannot be asked for
        return True


def _mapping_fits(value: Mapping[Any, Any], args: tuple[Any, ...]) -> bool:
    if not args:
        return True
    return all(_fits(k, args[0]) and _fits(v, args[1]) for k, v in value.items())


def _elements_fit(value: Any, kind: type, args: tuple[Any, ...]) -> bool:
    if not args or isinstance(value, abc.Iterator) or not isinstance(value, abc.Collection):
        return True
    if kind is tuple and args[-1] is not Ellipsis:
        return len(value) == len(args) and all(map(_fits, value, args))
    return all(_fits(element, args[0]) for element in value)
