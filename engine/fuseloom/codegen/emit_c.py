"""Routines as C99."""

from __future__ import annotations

from collections.abc import Sequence

from fuseloom.codegen.imperative import Routine, commands

HEAD = """\
#include <stdint.h>

static inline int64_t seek(const int64_t *crd, int64_t first, int64_t end, int64_t least) {
    int64_t step = 1;
    while (first + step < end && crd[first + step] < least) {
        first += step;
        step *= 2;
    }
    int64_t last = first + step < end ? first + step : end;
    while (first < last) {
        int64_t middle = first + (last - first) / 2;
        if (crd[middle] < least) first = middle + 1;
        else last = middle;
    }
    return first;
}
"""


class _C:
    indent = "    "
    end = ";"
    nothing = ";"

    def operator(self, op: str, left: str, right: str) -> str:
        if op == "max":
            return f"({left} > {right} ? {left} : {right})"
        return f"({left} {'&&' if op == 'and' else op} {right})"

    def declared(self, name: str, value: str) -> str:
        return f"int64_t {name} = {value};"

    def loop(self, name: str, first: str, end: str) -> str:
        return f"for (int64_t {name} = {first}; {name} < {end}; {name}++) {{"

    def clear(self, array: str, count: str) -> list[str]:
        return [f"for (int64_t z = 0; z < {count}; z++) {array}[z] = 0.0;"]

    def head(self, word: str, condition: str) -> str:
        return f"{word} ({condition}) {{"

    def otherwise(self) -> str:
        return "} else {"

    def close(self) -> str:
        return "}"


def emit_c(routines: Sequence[Routine], together: Sequence[str] = ()) -> str:
    """A file of C with a function ``k0``, ``k1``, ... per routine.

    Each takes its sizes and its arrays as ``(const int64_t *sizes, void *const *arrays)``.

    Parameters
    ----------
    routines : sequence of Routine
    together : sequence of str
        Names of arrays that routines share. A function ``together`` takes the same sizes and these
        arrays, and calls all routines one after the other.

    Examples
    --------
    >>> from fuseloom.codegen.imperative import Add, For, Int, ArrayParameter, Real, Var
    >>> body = (For("v0", Int(0), Var("n0"), (Add("r0", Var("v0"), Real(1.0)),)),)
    >>> text = emit_c([Routine(("n0",), (ArrayParameter("r0", True, True),), (), body)])
    >>> print(text[text.index("static void"):].strip())
    static void t0(const int64_t n0, double *restrict r0) {
        for (int64_t v0 = 0; v0 < n0; v0++) {
            r0[v0] += 1.0;
        }
    }
    void k0(const int64_t *sizes, void *const *arrays) {
        t0(sizes[0], arrays[0]);
    }
    """
    lines = [HEAD]
    for number, routine in enumerate(routines):
        given = [f"const int64_t {name}" for name in routine.sizes]
        for array in routine.arrays:
            const, kind = "" if array.written else "const ", "double" if array.real else "int64_t"
            given.append(f"{const}{kind} *restrict {array.name}")
        lines.append(f"static void t{number}({', '.join(given) or 'void'}) {{")
        lines += [f"    double {name} = 0.0;" for name in routine.scalars]
        lines += commands(routine.body, _C(), 1)
        passed = [f"sizes[{k}]" for k in range(len(routine.sizes))]
        passed += [f"arrays[{k}]" for k in range(len(routine.arrays))]
        lines += [
            "}",
            f"void k{number}(const int64_t *sizes, void *const *arrays) {{",
            f"    t{number}({', '.join(passed)});",
            "}",
        ]
    if together:
        places = {name: k for k, name in enumerate(together)}
        lines.append("void together(const int64_t *sizes, void *const *arrays) {")
        for number, routine in enumerate(routines):
            passed = [f"sizes[{k}]" for k in range(len(routine.sizes))]
            passed += [f"arrays[{places[array.name]}]" for array in routine.arrays]
            lines.append(f"    t{number}({', '.join(passed)});")
        lines.append("}")
    return "\n".join([*lines, ""])
