"""Routines as Python for numba: for machines without a C compiler."""

from __future__ import annotations

from collections.abc import Sequence

from fuseloom.codegen.imperative import Routine, commands

HEAD = '''\
"""Generated from loop nests."""

import numba


@numba.njit("int64(int64[::1], int64, int64, int64)", cache=True)
def seek(crd, first, end, least):
    step = 1
    while first + step < end and crd[first + step] < least:
        first += step
        step *= 2
    last = min(first + step, end)
    while first < last:
        middle = first + (last - first) // 2
        if crd[middle] < least:
            first = middle + 1
        else:
            last = middle
    return first
'''


class _Python:
    indent = "    "
    end = ""
    nothing = "pass"

    def operator(self, op: str, left: str, right: str) -> str:
        return f"max({left}, {right})" if op == "max" else f"({left} {op} {right})"

    def declared(self, name: str, value: str) -> str:
        return f"{name} = {value}"

    def loop(self, name: str, first: str, end: str) -> str:
        return f"for {name} in range({first}, {end}):"

    def clear(self, array: str, count: str) -> list[str]:
        return [f"for z in range({count}):", f"{self.indent}{array}[z] = 0.0"]

    def head(self, word: str, condition: str) -> str:
        return f"{word} {condition}:"

    def otherwise(self) -> str:
        return "else:"

    def close(self) -> None:
        return None


def emit_numba(routines: Sequence[Routine]) -> str:
    """A module of Python with a function ``k0``, ``k1``, ... per routine.

    Each takes an array of its sizes, then its arrays.

    Examples
    --------
    >>> from fuseloom.codegen.imperative import Add, For, Int, ArrayParameter, Real, Var
    >>> body = (For("v0", Int(0), Var("n0"), (Add("r0", Var("v0"), Real(1.0)),)),)
    >>> text = emit_numba([Routine(("n0",), (ArrayParameter("r0", True, True),), (), body)])
    >>> print(text[text.index("def k0"):].strip())
    def k0(sizes, r0):
        n0 = sizes[0]
        for v0 in range(0, n0):
            r0[v0] += 1.0
    """
    lines = [HEAD]
    for number, routine in enumerate(routines):
        kinds = [
            "int64[::1]",
            *("float64[::1]" if a.real else "int64[::1]" for a in routine.arrays),
        ]
        signature = f"void({', '.join(kinds)})"
        given = ", ".join(["sizes", *(array.name for array in routine.arrays)])
        lines += [
            "",
            f'@numba.njit("{signature}", cache=True, nogil=True, error_model="numpy")',
            f"def k{number}({given}):",
            *(f"    {name} = sizes[{k}]" for k, name in enumerate(routine.sizes)),
            *(f"    {name} = 0.0" for name in routine.scalars),
            *(commands(routine.body, _Python(), 1) or [f"    {_Python.nothing}"]),
            "",
        ]
    return "\n".join(lines)
