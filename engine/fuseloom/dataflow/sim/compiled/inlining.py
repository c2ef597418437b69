"""Helpers of kernels: functions that become part of whatever calls them, and cheaply so.

Numba compiles a function called by another to machine code of its own, with all optimisations
and with entry points for Python, even where it is only ever inlined; a kernel of fifty helpers
was compiled fifty times over.  A helper here stops at its intermediate code, and is optimised
once, as part of each kernel.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba.core import compiler, types, typing
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

# The parts of numba used here have no types.
_Library: Any = JITCodeLibrary
_flags: Any = compiler.Flags
_compile: Any = compiler.compile_extra
_typing: Any = typing
_types: Any = types
_target: Any = cpu_target

OPTIONS = {"_nrt": False, "error_model": "numpy"}
"""Reference counting of arrays would cost more than all the rest; nothing here needs it."""


class Ingredients(_Library):  # type: ignore[misc]
    """Intermediate code that is only linked into other code: not optimised, never run itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


def _compiled(function: Callable[..., Any], args: tuple[Any, ...], fastmath: set[str]) -> Any:
    """Return the compiler's output for a function with arguments of these types."""
    flags = _flags()
    options = {"nopython": True, "forceinline": True, "fastmath": fastmath, **OPTIONS}
    _target.options.parse_as_flags(flags, options)
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    context = _target.target_context
    library = Ingredients(context.codegen(), function.__qualname__)
    return _compile(_target.typing_context, context, function, args, None, flags, {}, library)


def _as_given(kind: Any) -> Any:
    return kind


def helper(
    function: Function, fastmath: set[str], seen: Callable[[Any], Any] = _as_given
) -> Function:
    """A helper that becomes part of what calls it.

    Parameters
    ----------
    seen : callable
        As which type the helper sees an argument of a type, of the same layout; what looks the
        same to it is compiled once.
    """

    @cache
    def compiled(args: tuple[Any, ...]) -> Any:
        return _compiled(function, args, fastmath)

    def define(typing_context: Any, *given: Any) -> Any:
        args = tuple(_types.unliteral(kind) for kind in given)
        made = compiled(tuple(map(seen, args)))
        result = made.signature.return_type

        def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
            context.add_linking_libs((made.library,))
            return context.call_internal(builder, made.fndesc, made.signature, values)

        return _typing.signature(result, *args), generate

    definition: Any = define
    definition.__name__ = function.__name__
    definition.__doc__ = function.__doc__
    own = inspect.signature(function)
    context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_ONLY)
    definition.__signature__ = own.replace(parameters=[context, *own.parameters.values()])
    made: Any = intrinsic(definition)
    made.py_func = function
    return cast(Function, made)


def inline(function: Function) -> Function:
    """Decorator: a helper that becomes part of every kernel that calls it.

    It is called with positional arguments, all of them; Python cannot call it.
    """
    return helper(function, set())


def inline_fused(function: Function) -> Function:
    """The same, where a product may be added without being rounded first."""
    return helper(function, {"contract"})


def helpers_of(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The functions of the helpers that a kernel or another helper calls."""
    seen = inspect.getclosurevars(function)
    named: list[Any] = [*seen.globals.values(), *seen.nonlocals.values()]
    modules = [found for found in named if inspect.ismodule(found)]
    named += [getattr(module, name, None) for module in modules for name in seen.unbound]
    return [helper.py_func for helper in named if hasattr(helper, "py_func")]


def generated(function: Callable[..., Any]) -> Any:
    """Decorator: a helper given as a function that writes its intermediate code."""
    return intrinsic(function)
