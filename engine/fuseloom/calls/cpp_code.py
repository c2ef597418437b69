"""Generated C++ as machine code, whose routines are Python or C functions."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuseloom.calls.c_routines import CRoutine, array_of_part, part_of_array, part_structure
from fuseloom.calls.pipeline_writer import GeneratedCode
from fuseloom.codegen.shared_objects import CPP, find_compiler, load_library
from fuseloom.errors import DataError, ProgramError

FLAGS = ("-O2",)
NUMBERS = {"bool": ctypes.c_bool, "int64_t": ctypes.c_int64, "double": ctypes.c_double}
"""Types of numbers, and how Python passes them."""
ELEMENTS = {
    "bool": "bool", "float32": "float", "float64": "double",
    "complex64": "std::complex<float>", "complex128": "std::complex<double>",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Types of elements, by NumPy's names."""
MESSAGE = 200
FAILED, NO_MEMORY, OTHER = 1, 2, 3
"""Codes that a run ends with: a routine raised, memory was short, or another error."""


@dataclass(frozen=True)
class PartType:
    """The type of a part of an array.

    Attributes
    ----------
    dtype : dtype
    dimensions : int
    """

    dtype: np.dtype[Any]
    dimensions: int

    @property
    def text(self) -> str:
        """The type in C++.

        Examples
        --------
        >>> PartType(np.dtype(np.float32), 2).text
        'ArrayPart<float, 2>'
        """
        return f"ArrayPart<{ELEMENTS[self.dtype.name]}, {self.dimensions}>"

    @property
    def pointer(self) -> Any:
        """Its type in ctypes: a pointer to the structure."""
        return ctypes.POINTER(part_structure(self.dimensions))


@dataclass(frozen=True)
class CppRoutine:
    """A routine that generated C++ calls.

    Attributes
    ----------
    name : str
    function : callable
        What it does: a function of Python, or a :class:`CRoutine`.
    parameters : tuple
        Per parameter a :class:`PartType`, or the name of a type of numbers.
    """

    name: str
    function: Callable[..., Any]
    parameters: tuple[PartType | str, ...]

    def declaration(self, names: Sequence[str], scope: str = "") -> str:
        """Its head in C++."""
        given = []
        for kind, name in zip(self.parameters, names, strict=True):
            given.append(
                f"{kind} {name}" if isinstance(kind, str) else f"const {kind.text}& {name}"
            )
        return f"void {scope}{self.name}({', '.join(given)})"


@dataclass
class CppCode(GeneratedCode):
    """A pipeline as C++.

    Attributes
    ----------
    routines : list of CppRoutine
        What it calls, in the namespace ``routines``.
    arrays : list of PartType
        The first parameters of its function ``fused``.
    sizes : int
        The number of further parameters.
    workers : int or None
        Threads of parallel loops, the last parameter; None if there is no such loop.
    """

    routines: list[CppRoutine] = field(default_factory=list)
    arrays: list[PartType] = field(default_factory=list)
    sizes: int = 0
    workers: int | None = None

    def compile(self) -> Callable[..., None]:
        """The function ``fused``, which takes arrays, sizes of tiles and integers.

        Raises
        ------
        ProgramError
            If there is no compiler of C++.
        LoweringError
            If the compiler fails.
        """
        return _BoundCode(self)


@dataclass
class _Binding:
    """A loaded library whose routines are bound to functions; both stay as long as the process.

    Several functions with the same code and the same routines share it.
    """

    functions: tuple[Callable[..., Any], ...]
    run: Any = None
    callbacks: list[Any] = field(default_factory=list)
    errors: deque[BaseException] = field(default_factory=deque)


_BINDINGS: dict[str, list[_Binding]] = {}
"""By source, one for each choice of functions."""
_LOCK = threading.Lock()


def _bound(code: CppCode) -> _Binding:
    """The library of a code, with its routines bound."""
    compiler = find_compiler(CPP)
    if compiler is None:
        raise ProgramError(
            f"no compiler of C++ is found ({', '.join(CPP.compilers)})",
            hint=f"install one, or {CPP.instead}",
        )
    functions = tuple(routine.function for routine in code.routines)
    with _LOCK:
        known = _BINDINGS.setdefault(code.source, [])
        for binding in known:
            if binding.functions == functions:
                return binding
        source = f"{code.source}{_bindings(code)}// {len(known)}\n"
        library = load_library(source, CPP, compiler, FLAGS).functions
        binding = _Binding(functions, library.run_fused)
        binding.run.restype = ctypes.c_int
        binding.callbacks += [_pointer(routine, binding.errors) for routine in code.routines]
        addresses = [ctypes.cast(x, ctypes.c_void_p).value for x in binding.callbacks]
        library.bind_routines((ctypes.c_void_p * (len(addresses) or 1))(*addresses))
        known.append(binding)
        return binding


def _pointer(routine: CppRoutine, errors: deque[BaseException]) -> Any:
    """A function of C for a routine; what it raises is kept."""
    if isinstance(routine.function, CRoutine):
        return routine.function.function
    takes: list[Any] = [NUMBERS[x] if isinstance(x, str) else x.pointer for x in routine.parameters]
    function, kinds = routine.function, routine.parameters

    def callback(*given: Any) -> int:
        try:
            function(
                *(
                    value if isinstance(kind, str) else array_of_part(value[0], kind.dtype)
                    for kind, value in zip(kinds, given, strict=True)
                )
            )
        except BaseException as error:  # raised again where the run was begun
            errors.append(error)
            return FAILED
        return 0

    return ctypes.CFUNCTYPE(ctypes.c_int, *takes)(callback)


class _BoundCode:
    """Machine code, called with arrays and numbers."""

    def __init__(self, code: CppCode) -> None:
        self.code = code
        self.binding = _bound(code)

    def __call__(self, *given: Any) -> None:
        count = len(self.code.arrays)
        parts = [part_of_array(array) for array in given[:count]]
        pointers = (ctypes.c_void_p * count)(*map(ctypes.addressof, parts))
        sizes = [*given[count:], *([] if self.code.workers is None else [self.code.workers])]
        message = ctypes.create_string_buffer(MESSAGE)
        numbers = (ctypes.c_int64 * (len(sizes) or 1))(*sizes)
        ended = self.binding.run(pointers, numbers, message, MESSAGE)
        if ended == FAILED:
            error = self.binding.errors.popleft()
            self.binding.errors.clear()
            raise error
        if ended == NO_MEMORY:
            raise MemoryError("there is no room for an intermediate")
        if ended == OTHER:
            raise DataError(message.value.decode(errors="replace"))


def _bindings(code: CppCode) -> str:
    """C++ that binds routines to pointers, and makes a function that Python calls."""
    lines = ["", "// Bindings.", "struct RoutineFailed {};"]
    for number, routine in enumerate(code.routines):
        names = [f"p{n}" for n in range(len(routine.parameters))]
        takes = [x if isinstance(x, str) else f"const {x.text}*" for x in routine.parameters]
        result = "void" if isinstance(routine.function, CRoutine) else "int"
        given = [
            name if isinstance(kind, str) else f"&{name}"
            for name, kind in zip(names, routine.parameters, strict=True)
        ]
        call = f"bound_{number}({', '.join(given)})"
        checked = f"if ({call} != 0) throw RoutineFailed()" if result == "int" else call
        lines += [
            f"static {result} (*bound_{number})({', '.join(takes)});",
            f"{routine.declaration(names, 'routines::')} {{ {checked}; }}",
        ]
    lines.append('extern "C" void bind_routines([[maybe_unused]] void* const* pointers) {')
    for number in range(len(code.routines)):
        of = f"bound_{number}"
        lines.append(f"    {of} = reinterpret_cast<decltype({of})>(pointers[{number}]);")
    count = code.sizes + (code.workers is not None)
    arrays = [
        f"*static_cast<const {kind.text}*>(arrays[{number}])"
        for number, kind in enumerate(code.arrays)
    ]
    everything = ", ".join([*arrays, *(f"sizes[{number}]" for number in range(count))])
    lines += [
        "}",
        'extern "C" int run_fused(',
        "    const void* const* arrays, [[maybe_unused]] const int64_t* sizes, char* message,",
        "    int64_t room) {",
        "    try {",
        f"        fused({everything});",
        "        return 0;",
        f"    }} catch (const RoutineFailed&) {{ return {FAILED};",
        f"    }} catch (const std::bad_alloc&) {{ return {NO_MEMORY};",
        "    } catch (const std::exception& error) {",
        "        const char* text = error.what();",
        "        for (int64_t n = 0; n + 1 < room && *text; ++n) *message++ = *text++;",
        "        *message = 0;",
        f"        return {OTHER};",
        "    }",
        "}",
        "",
    ]
    return "\n".join(lines)
