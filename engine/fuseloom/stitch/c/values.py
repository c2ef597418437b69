"""Values of phases as C expressions, each in the outermost loop that it can be computed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from fuseloom.stitch.c.scalars import C_TYPES, computing_element, number_text, scalar_text
from fuseloom.stitch.phase_values import (
    ElementChoice,
    ElementLoad,
    ElementNumber,
    ElementPosition,
    ElementResult,
    KernelPhase,
    PhaseValue,
)
from fuseloom.stitch.phases import PhasedKernel
from fuseloom.stitch.positions import AtomRule, PositionAtom, PositionSum


@dataclass(frozen=True)
class KernelNames:
    """Names of a kernel's arrays in its code, by operation.

    Attributes
    ----------
    inputs, outputs : mapping
        Of arrays in memory.
    buffers : mapping
        Of buffers of a block.
    """

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    buffers: Mapping[str, str]


def kernel_names(phased: PhasedKernel) -> KernelNames:
    """Number the arrays and buffers of a kernel."""
    return KernelNames(
        {one.name: f"in{number}" for number, one in enumerate(phased.inputs)},
        {one.name: f"out{number}" for number, one in enumerate(phased.outputs)},
        {name: f"buffer{number}" for number, name in enumerate(phased.plan.buffers)},
    )


class PhaseCode:
    """The values of a phase as variables of C.

    Parameters
    ----------
    phase : KernelPhase
    names : KernelNames
    levels : mapping
        Per variable of a loop its depth, from 1 on; others are known before the first loop.
    left_out : set of int
        ``id`` of values that get no variable.
    first : int
        The number of the first variable.

    Attributes
    ----------
    texts : dict
        Per ``id`` of a value its text: the name of its variable, or a number.

    Raises
    ------
    LoweringError
        If an operation has no form in C.
    """

    def __init__(
        self,
        phase: KernelPhase,
        names: KernelNames,
        levels: Mapping[str, int],
        left_out: Set[int] = frozenset(),
        first: int = 0,
    ) -> None:
        self.phase = phase
        self.names = names
        self.texts: dict[int, str] = {}
        self._by_level: dict[int, list[str]] = {}
        for number, value in enumerate(phase.values, first):
            if id(value) in left_out:
                continue
            level = max((levels.get(name, 0) for name in value.names), default=0)
            lines = self._by_level.setdefault(level, [])
            text = self.text(value)
            if not isinstance(value, ElementNumber):
                kind = C_TYPES[computing_element(value.element)]
                lines.append(f"const {kind} v{number} = {text};")
                text = f"v{number}"
            self.texts[id(value)] = text
            lines += [
                f"const int64_t {name} = clamped({text}, {one.most});"
                for name, one in phase.fixed.items()
                if one.value is value
            ]

    def lines(self, level: int) -> Sequence[str]:
        """Lines of the variables that are computed in a loop; of level 0, before all loops."""
        return self._by_level.get(level, ())

    @property
    def value(self) -> str:
        """The text of the value that a phase stores, or combines."""
        return self.texts[id(self.phase.value)]

    @property
    def start(self) -> str:
        """The text of a reduction's initial value; empty for 0, or without a reduction."""
        reduction = self.phase.reduction
        return self.texts[id(reduction.start)] if reduction and reduction.start else ""

    def text(self, value: PhaseValue) -> str:
        """The expression of a value, of variables of those that it is computed of."""
        if isinstance(value, ElementNumber):
            return number_text(value.number, value.element)
        if isinstance(value, ElementLoad):
            at = position_text(value.at)
            if not value.buffered:
                return f"{self.names.inputs[value.source]}[{at}]"
            text = f"{self.names.buffers[value.source]}[{at}]"
            return f"of_half({text})" if value.element == "bf16" else text
        if isinstance(value, ElementPosition):
            kind = C_TYPES[computing_element(value.element)]
            text = f"({kind})({position_text(value.at)})"
            return f"round_bf16({text})" if value.element == "bf16" else text
        if isinstance(value, ElementResult):
            operands = [(self.texts[id(one)], one.element) for one in value.operands]
            return scalar_text(value.opcode, operands, value.element, value.attributes)
        return self._choice(value)

    def stores(self, text: str, kind: str = "") -> list[str]:
        """Lines that store a value, or several side by side, of a type that holds them."""
        operation = self.phase.operation
        half = operation.array.element == "bf16"
        if self.phase.reduction is not None and half:
            text = f"round_bf16({text})"
        made = []
        for store in self.phase.stores:
            at = position_text(store.at)
            if store.buffered:
                value = f"half_of({text})" if half else text
                to = f"{self.names.buffers[operation.name]}[{at}]"
            else:
                value, to = text, f"{self.names.outputs[operation.name]}[{at}]"
            made.append(f"{f'*({kind}*)&{to}' if kind else to} = {value};")
        return made

    def _choice(self, value: ElementChoice) -> str:
        tests = []
        for test in value.tests:
            at = position_text(test.at)
            if test.at.least < 0:
                tests.append(f"{at} >= 0")
            if test.at.most >= test.extent:
                tests.append(f"{at} < {test.extent}")
            if test.step > 1:
                tests.append(f"({at}) % {test.step} == 0")
        inside, outside = self.texts[id(value.inside)], self.texts[id(value.outside)]
        return f"({' && '.join(tests)}) ? {inside} : {outside}"


def memory_type(element: str) -> str:
    """The C type of elements in memory, as NumPy has them."""
    return C_TYPES[element] if element in C_TYPES else C_TYPES[computing_element(element)]


def buffer_type(element: str) -> str:
    """The C type of elements of a buffer, of as many bytes as the plan counts."""
    return "uint16_t" if element == "bf16" else memory_type(element)


def position_text(at: PositionSum) -> str:
    """Write a sum in C.

    Remainders of a loop's variable that is less than the divisor are written without it, so that
    elements are seen to lie side by side.

    Examples
    --------
    >>> from fuseloom.stitch.positions import variable
    >>> position_text(variable("i", 4).times(8).plus(variable("j", 8)).plus(-1))
    '8 * i + j - 1'
    >>> at = variable("block", 99).times(8).plus(variable("j", 8))
    >>> position_text(at.divided(32)[1])
    '8 * ((block) % 4) + j'
    """
    made, at = "", _without_small(at)
    for atom, factor in at.terms:
        size = abs(factor)
        text = _atom_text(atom) if size == 1 else f"{size} * {_atom_text(atom)}"
        if made:
            made += f" {'-' if factor < 0 else '+'} {text}"
        else:
            made = f"-{text}" if factor < 0 else text
    if at.constant or not made:
        sign = f" {'-' if at.constant < 0 else '+'} " if made else "-" if at.constant < 0 else ""
        made += f"{sign}{abs(at.constant)}"
    return made


def _without_small(at: PositionSum) -> PositionSum:
    """The same sum, with what is less than a factor of all else taken out of divisions."""
    made = PositionSum((), at.constant)
    for atom, factor in at.terms:
        own: PositionSum = PositionSum(((atom, 1),))
        if atom.of is not None and atom.rule in (AtomRule.QUOTIENT, AtomRule.REMAINDER):
            own = _divided(atom, atom.of)
        made = made.plus(own.times(factor))
    return made


def _divided(atom: PositionAtom, of: PositionSum) -> PositionSum:
    for unit in sorted({abs(factor) for _, factor in of.terms}, reverse=True):
        if unit == 1 or atom.by % unit:
            continue
        high = [(one, factor // unit) for one, factor in of.terms if factor % unit == 0]
        small = tuple((one, factor) for one, factor in of.terms if factor % unit)
        low = PositionSum(small, of.constant % unit)
        if low.least >= 0 and low.most < unit:
            count = atom.by // unit
            inner = PositionSum(tuple(high), of.constant // unit)
            size = atom.size if atom.rule is AtomRule.QUOTIENT else count
            term = PositionSum(((PositionAtom("", size, atom.rule, inner, count), 1),))
            if atom.rule is AtomRule.QUOTIENT:
                return term if count > 1 else inner
            return term.times(unit).plus(low) if count > 1 else low
    return PositionSum(((atom, 1),))


def _atom_text(atom: PositionAtom) -> str:
    if atom.of is None:
        return atom.name
    inner = position_text(atom.of)
    if atom.rule is AtomRule.CLAMPED:
        return f"clamped({inner}, {atom.size - 1})"
    return f"(({inner}) {'/' if atom.rule is AtomRule.QUOTIENT else '%'} {atom.by})"


def comment_text(name: str) -> str:
    """Write the name of an operation in a comment."""
    return name.replace("*/", "* /").encode("ascii", "replace").decode()
