"""Functions with annotations, and calls of them on data that are not there yet."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuseloom.calls.data_kinds import DataKind
from fuseloom.calls.language.annotation import Annotation, Subset
from fuseloom.calls.language.reader import read_annotation
from fuseloom.calls.polynomials import DataField, Polynomial, Symbol
from fuseloom.errors import ProgramError
from fuseloom.program.formats import suggestion


@dataclass(frozen=True)
class DataHandle:
    """A data structure that is given, computed or returned when fused code runs.

    Attributes
    ----------
    name : str
    kind : DataKind
    """

    name: str
    kind: DataKind


@dataclass(frozen=True)
class IntegerArgument:
    """An integer that is given when fused code runs.

    Attributes
    ----------
    name : str
    """

    name: str


class AnnotatedFunction:
    """A function that computes a part of its output from parts of its inputs.

    Parameters
    ----------
    function : callable
        It writes into its output, which is one of its arguments.
    annotation : Annotation
    parameters : sequence of str
        Names of its arguments, in order.
    name : str
        What it is called in pipelines.

    Raises
    ------
    ProgramError
        If the annotation speaks of what is no argument, or two things have one name.

    Notes
    -----
    In the annotation, ``data.field`` is a field of the whole data structure that is passed for
    ``data`` when the call is one of its own, not of a part.

    Called on handles (:class:`DataHandle`) it gives a :class:`FunctionCall`, to be composed; on
    data it computes at once.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        annotation: Annotation,
        parameters: Sequence[str],
        name: str,
    ) -> None:
        self.function = function
        self.annotation = annotation
        self.parameters = tuple(parameters)
        self.name = name
        self._verify()

    @property
    def data(self) -> tuple[str, ...]:
        """The arguments that are data structures; the output is the last."""
        consumed = [subset.data for subset in self.annotation.consumes]
        return (*dict.fromkeys(consumed), self.output)

    @property
    def output(self) -> str:
        """The argument that it writes."""
        return self.annotation.produces.data

    def _verify(self) -> None:
        for name in self.parameters:
            if self.parameters.count(name) > 1:
                raise ProgramError(f"{self.name} has two arguments with the name {name}")
            if name in self._declared():
                raise ProgramError(
                    f"the annotation of {self.name} declares {name}, which is an argument",
                    hint="give the variable another name",
                )
        for name in self.data:
            if name not in self.parameters:
                raise ProgramError(
                    f"the annotation of {self.name} speaks of {name}, which is no argument of it",
                    hint=suggestion(name, list(self.parameters)),
                )
        for atom in _atoms(self.annotation):
            if isinstance(atom, DataField) and atom.data not in self.data:
                raise ProgramError(
                    f"the annotation of {self.name} reads {atom}, and {atom.data} is neither "
                    "produced nor consumed"
                )
            if isinstance(atom, Symbol) and atom.name not in self._variables():
                raise ProgramError(
                    f"the annotation of {self.name} uses {atom}, which nothing declares",
                    hint=f"declare it: {atom}: Symbolic; or make it an argument",
                )

    def _declared(self) -> set[str]:
        return {*self.annotation.symbolic, *(x.variable for x in self.annotation.intervals)}

    def _variables(self) -> set[str]:
        return self._declared() | {x for x in self.parameters if x not in self.data}

    def __call__(self, *arguments: Any) -> Any:
        if not any(isinstance(x, DataHandle) for x in arguments):
            return self.function(*arguments)
        if len(arguments) != len(self.parameters):
            raise ProgramError(
                f"{self.name} takes {len(self.parameters)} arguments, not {len(arguments)}",
                hint=f"they are {', '.join(self.parameters)}",
            )
        return FunctionCall(self, dict(zip(self.parameters, arguments, strict=True)))

    def __repr__(self) -> str:
        return f"<annotated {self.name}({', '.join(self.parameters)})>"


@dataclass(frozen=True)
class FunctionCall:
    """A call of an annotated function on handles.

    Attributes
    ----------
    function : AnnotatedFunction
    arguments : mapping
        Per parameter a handle, an integer argument, or a value.

    Raises
    ------
    ProgramError
        If an argument is of another kind than the annotation wants.
    """

    function: AnnotatedFunction
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        name = self.function.name
        annotation = self.function.annotation
        for subset in (annotation.produces, *annotation.consumes):
            handle = self.arguments[subset.data]
            if not isinstance(handle, DataHandle):
                raise ProgramError(
                    f"{name} wants a data structure for {subset.data}",
                    hint="give a handle, such as matrix('A')",
                )
            _check_fields(name, subset, handle)
        for atom in _atoms(annotation):
            if isinstance(atom, DataField):
                _check_field(name, atom.name, self.arguments[atom.data])
        used = {x.name for x in _atoms(annotation) if isinstance(x, Symbol)}
        for parameter, value in self.arguments.items():
            if parameter in self.function.data:
                continue
            if isinstance(value, DataHandle):
                raise ProgramError(
                    f"{name} has {value.name} for {parameter}, of which its annotation says nothing"
                )
            wanted = isinstance(value, (int, IntegerArgument)) and not isinstance(value, bool)
            if parameter in used and not wanted:
                raise ProgramError(f"{name} wants an integer for {parameter}, not {value!r}")

    @property
    def output(self) -> DataHandle:
        """The data structure that it writes."""
        handle: DataHandle = self.arguments[self.function.output]
        return handle

    @property
    def inputs(self) -> tuple[DataHandle, ...]:
        """The data structures that it reads, each once."""
        names = self.function.data[:-1]
        return tuple(dict.fromkeys(self.arguments[name] for name in names))


def _check_fields(name: str, subset: Subset, handle: DataHandle) -> None:
    given, wanted = [field for field, _ in subset.fields], handle.kind.fields
    for field in given:
        _check_field(name, field, handle)
    missing = [field for field in wanted if field not in given]
    if missing:
        raise ProgramError(
            f"{name}: its annotation does not say {' and '.join(missing)} of {subset.data}, "
            f"a {handle.kind.name}"
        )


def _check_field(name: str, field: str, handle: DataHandle) -> None:
    if field not in handle.kind.fields:
        raise ProgramError(
            f"{name}: a {handle.kind.name} has no field {field}",
            hint=suggestion(field, list(handle.kind.fields)),
        )


def _atoms(annotation: Annotation) -> list[Symbol | DataField]:
    values: list[Polynomial] = []
    for loop in annotation.intervals:
        values += [loop.start, loop.end, loop.step]
    for subset in (annotation.produces, *annotation.consumes):
        values += [value for _, value in subset.fields]
    return [atom for value in values for atom in value.atoms()]


def annotated(text: str, *, name: str | None = None) -> Callable[..., AnnotatedFunction]:
    """Decorate a function with its annotation.

    Parameters
    ----------
    text : str
        As :func:`fuseloom.calls.language.reader.read_annotation` takes it.
    name : str, optional
        What the function is called in pipelines; its own name by default.

    Examples
    --------
    >>> import numpy as np
    >>> @annotated('''t: Symbolic
    ... for x in [0, out.len, t] {
    ...   produces { out { start: x, len: t } } when consumes { a { start: x, len: t } } }''')
    ... def double(a, out):
    ...     np.multiply(a, 2, out=out)
    >>> double
    <annotated double(a, out)>
    """

    def decorate(function: Callable[..., Any]) -> AnnotatedFunction:
        return annotate(function, text, name=name)

    return decorate


def annotate(
    function: Callable[..., Any],
    text: str,
    parameters: Sequence[str] | None = None,
    name: str | None = None,
) -> AnnotatedFunction:
    """A function that is there, such as a ufunc or one of a C library, with an annotation.

    Parameters
    ----------
    parameters : sequence of str, optional
        Names of its arguments, where Python does not know them.

    Raises
    ------
    ParseError, ProgramError
        Of an annotation that is none, or speaks of what is no argument.

    Examples
    --------
    >>> import numpy as np
    >>> annotate(np.exp, "produces { out { start: 0, len: 1 } } when consumes { a { start: 0, "
    ...          "len: 1 } }", parameters=["a", "out"])
    <annotated exp(a, out)>
    """
    called = str(name or getattr(function, "__name__", "call"))
    if parameters is None:
        parameters = _positional(function, called)
    return AnnotatedFunction(function, read_annotation(text, called), parameters, called)


def _positional(function: Callable[..., Any], called: str) -> list[str]:
    """Names of the arguments that a function takes by position."""
    wanted = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        found = inspect.signature(function).parameters.values()
        if any(x.kind is inspect.Parameter.VAR_POSITIONAL for x in found):
            raise ValueError
    except (TypeError, ValueError):
        raise ProgramError(
            f"the arguments of {called} have no names that Python knows",
            hint="give parameters=['a', 'out']",
        ) from None
    return [x.name for x in found if x.kind in wanted]
