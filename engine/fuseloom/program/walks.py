"""Walks over nested things that need no recursion, however deep a program is.

A chain of a thousand statements is as deep as it is long, and Python's own stack ends before that.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeVar

_T = TypeVar("_T")

Steps = Generator[Generator[Any, Any, Any], Any, _T]
"""A function that hands out its inner calls with ``yield``, for :func:`unwound` to run."""


def postorder(roots: Iterable[_T], parts: Callable[[_T], Iterable[_T]]) -> Iterator[_T]:
    """Yield everything once, by identity: parts from left to right, then what they are part of.

    Examples
    --------
    >>> tree = {"f": "ba", "b": "ca", "a": "", "c": ""}
    >>> "".join(postorder("f", tree.__getitem__))
    'cabf'
    """
    seen: set[int] = set()
    for root in roots:
        if id(root) in seen:
            continue
        seen.add(id(root))
        stack = [(root, iter(parts(root)))]
        while stack:
            whole, rest = stack[-1]
            for part in rest:
                if id(part) not in seen:
                    seen.add(id(part))
                    stack.append((part, iter(parts(part))))
                    break
            else:
                stack.pop()
                yield whole


def unwound(call: Steps[_T]) -> _T:
    """Run a recursive function whose inner calls are yielded, and return what it returns.

    Examples
    --------
    >>> def total(n):
    ...     return n + (yield total(n - 1)) if n else 0
    >>> unwound(total(5_000))
    12502500
    """
    stack: list[Generator[Any, Any, Any]] = [call]
    value: Any = None
    while True:
        try:
            inner = stack[-1].send(value)
        except StopIteration as done:
            stack.pop()
            value = done.value
            if not stack:
                result: _T = value
                return result
        else:
            stack.append(inner)
            value = None
