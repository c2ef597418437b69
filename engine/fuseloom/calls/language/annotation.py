"""Annotations: which parts of its inputs a call needs for a part of its output."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.calls.polynomials import Polynomial


@dataclass(frozen=True)
class Subset:
    """A part of a data structure.

    Attributes
    ----------
    data : str
        The parameter of the call that holds it.
    fields : tuple of (str, Polynomial)
        Which part: each field of the data structure with its value.
    """

    data: str
    fields: tuple[tuple[str, Polynomial], ...]

    def __str__(self) -> str:
        return f"{self.data} {{ {', '.join(f'{name}: {value}' for name, value in self.fields)} }}"


@dataclass(frozen=True)
class Interval:
    """A loop over parts of the output.

    Attributes
    ----------
    variable : str
    start, end, step : Polynomial
        The end is not reached.
    """

    variable: str
    start: Polynomial
    end: Polynomial
    step: Polynomial

    def __str__(self) -> str:
        return f"for {self.variable} in [{self.start}, {self.end}, {self.step}]"


@dataclass(frozen=True)
class Annotation:
    """The needs of a call.

    Attributes
    ----------
    symbolic : tuple of str
        Variables that are chosen later: sizes of parts.
    intervals : tuple of Interval
        The outermost first; together their parts are the whole output.
    produces : Subset
        A part of the output.
    consumes : tuple of Subset
        The parts of the inputs that it is computed of.

    Examples
    --------
    >>> from fuseloom.calls.language.reader import read_annotation
    >>> print(read_annotation(
    ...     "t: Symbolic for x in [0, y.len, t] {produces {y {start: x, len: t}}"
    ...     " when consumes {a {start: x, len: t}}}"))
    t : Symbolic
    for x in [0, y.len, t] {
      produces { y { start: x, len: t } }
      when consumes {
        a { start: x, len: t }
      }
    }
    """

    symbolic: tuple[str, ...]
    intervals: tuple[Interval, ...]
    produces: Subset
    consumes: tuple[Subset, ...]

    def __str__(self) -> str:
        lines = [f"{name} : Symbolic" for name in self.symbolic]
        lines += [f"{'  ' * depth}{loop} {{" for depth, loop in enumerate(self.intervals)]
        inside = "  " * len(self.intervals)
        lines.append(f"{inside}produces {{ {self.produces} }}")
        if self.consumes:
            parts = [f"{inside}  {subset}" for subset in self.consumes]
            lines += [f"{inside}when consumes {{", ",\n".join(parts), f"{inside}}}"]
        else:
            lines.append(f"{inside}when consumes {{ }}")
        lines += [f"{'  ' * depth}}}" for depth in reversed(range(len(self.intervals)))]
        return "\n".join(lines)
