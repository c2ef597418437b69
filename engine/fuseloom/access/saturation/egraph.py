"""The e-graph, kept by egglog: the one module that speaks to it."""

from __future__ import annotations

import base64
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from operator import itemgetter
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from fuseloom.access.constructs import CONSTRUCTS, Construct, ShapeError, TermPart
from fuseloom.access.rules.rule import Pattern, PatternTerm, Rule, Variable
from fuseloom.access.saturation.classes import ENode, EquivalenceClasses
from fuseloom.access.saturation.egglog_module import load_egglog
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Term, subterms
from fuseloom.errors import LimitError

GRACE = 0.25
"""How much longer than its limit an iteration may take, as a share of the limit, before it is given
up; up to then it only stops to add nodes."""

REPEATED = 2
"""Nodes that the rules of an iteration may add, in its limit: most of them are there already."""


@dataclass
class Allowance:
    """What an e-graph may still use.

    Attributes
    ----------
    nodes : int
        The most nodes.
    deadline : float
        When it stops, by ``time.monotonic``.
    overtime : float
        Seconds after the deadline at which an iteration is given up.
    exhausted : str
        What ran out: ``nodes`` or ``seconds``; empty if nothing did.
    """

    nodes: int
    deadline: float
    overtime: float
    exhausted: str = ""


@dataclass
class StepReport:
    """An iteration: every rule on all that was there.

    Attributes
    ----------
    hits : Counter
        Per rule, how often it applied.
    nodes, classes : int
        Of the e-graph after it.
    changed : bool
        Whether anything was new.
    """

    nodes: int
    classes: int
    changed: bool
    hits: Counter[str] = field(default_factory=Counter)


class Callback:
    """A function that egglog calls; it is found by its number, so that it need not be pickled."""

    numbers = count()
    known: ClassVar[WeakValueDictionary[int, Callback]] = WeakValueDictionary()

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.number = next(Callback.numbers)
        Callback.known[self.number] = self

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __reduce__(self) -> tuple[Callable[[int], Callback], tuple[int]]:
        return callback, (self.number,)


def callback(number: int) -> Callback:
    """The callback of a number.

    Examples
    --------
    >>> same = Callback(len)
    >>> callback(same.number) is same
    True
    """
    return Callback.known[number]


class EGraph:
    """Terms, and what rules make of them.

    Parameters
    ----------
    term : Term
        What is rewritten.
    rules : sequence of Rule
    parameters : mapping
        Of the hardware: ``rows`` and ``columns``.
    nodes : int
        The most nodes that it may hold.
    seconds : float
        How long it may take.

    Raises
    ------
    ProgramError
        If egglog is not installed.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> from fuseloom.access.rules.sets import rule_set
    >>> graph = EGraph(matmul(8, 8, 8), rule_set("boxes"), {"rows": 8, "columns": 8})
    >>> graph.step().hits
    Counter({'systolic-array': 1})
    """

    def __init__(
        self,
        term: Term,
        rules: Sequence[Rule],
        parameters: Mapping[str, int],
        *,
        nodes: int = 100_000,
        seconds: float = 60.0,
    ) -> None:
        egglog = load_egglog()
        self._graph = egglog.EGraph()
        self._kept: list[Callback] = []
        self._parameters = dict(parameters)
        self._hits: Counter[str] = Counter()
        self.allowance = Allowance(nodes, time.monotonic() + seconds, GRACE * seconds)
        self._foreseen = 0
        self._run(_SCHEMA)
        for construct in CONSTRUCTS.values():
            self._run(self._analysis(construct))
        for number, rule in enumerate(rules):
            for variant, bound in enumerate(rule.variants()):
                self._run(self._rewriting(rule, bound, f"{number}.{variant}"))
        self._add(term)
        self._run("(run-schedule (saturate (run shapes)))")

    def step(self) -> StepReport:
        """Apply every rule to all that is there.

        Raises
        ------
        LimitError
            If finding what they apply to takes much longer than allowed; the e-graph is as before.
        """
        self._hits = Counter()
        before = self.size()
        self._foreseen = before[0]
        report = self._run("(run-schedule (run rules))")[0].report
        self._run("(run-schedule (saturate (run shapes)))")
        nodes, classes = self.size()
        if nodes > self.allowance.nodes:
            self.allowance.exhausted = "nodes"
        changed = report.updated and ((nodes, classes) != before or bool(self._hits))
        return StepReport(nodes, classes, changed, self._hits)

    def size(self) -> tuple[int, int]:
        """The number of nodes, and of classes."""
        sizes = dict(self._run("(print-size)")[0].sizes)
        nodes = sum(sizes.get(f"t-{name}", 0) for name in CONSTRUCTS)
        return nodes, sizes["shape"]

    def classes(self) -> EquivalenceClasses:
        """All nodes, as plain data."""
        functions = self._graph.freeze().functions
        numbers: dict[Any, int] = {}
        read: dict[Any, Any] = {}

        def value(kind: str, found: Any) -> Any:
            if kind == "T":
                return numbers.setdefault(found, len(numbers))
            key = kind, found
            if key not in read:
                of = self._graph.value_to_string if kind == "String" else (
                    self._graph.value_to_pyobject
                )  # fmt: skip
                read[key] = of(found)
            return read[key]

        nodes: dict[int, list[ENode]] = {}
        for name, construct in CONSTRUCTS.items():
            for row in functions[f"t-{name}"].rows:
                operands, attributes = [], []
                for part, given in zip(construct.parts, row.inputs, strict=True):
                    if part is TermPart.TERM:
                        operands.append(value("T", given))
                    else:
                        attributes.append(_decoded(part, value(_sort(part), given)))
                node = ENode(name, tuple(attributes), tuple(operands))
                nodes.setdefault(value("T", row.output), []).append(node)
        shapes = {
            value("T", row.inputs[0]): _decoded(
                TermPart.ACCESS_SHAPE, value("PyObject", row.output)
            )
            for row in functions["shape"].rows
        }
        root = value("T", functions["$root"].rows[0].output)
        return EquivalenceClasses({k: tuple(v) for k, v in nodes.items()}, shapes, root)

    def _add(self, term: Term) -> None:
        names: dict[Term, str] = {}
        lines = []
        for number, part in enumerate(subterms(term)):
            construct = CONSTRUCTS[part.construct]
            operands, attributes = iter(part.operands), iter(part.attributes)
            given = [
                names[next(operands)]
                if kind is TermPart.TERM
                else _constant(kind, next(attributes))
                for kind in construct.parts
            ]
            names[part] = f"$p{number}"
            lines.append(f"(let $p{number} (t-{construct.name} {' '.join(given)}))")
        self._run("\n".join([*lines, f"(let $root {names[term]})"]))

    def _run(self, text: str) -> list[Any]:
        found: list[Any] = self._graph.run_program(*self._graph.parse_program(text))
        return found

    def _named(self, function: Callable[..., Any]) -> str:
        """A function as egglog's text has it."""
        kept = Callback(function)
        self._kept.append(kept)
        return _object(kept)

    def _analysis(self, construct: Construct) -> str:
        """The sort of a construct, and the rule that finds the shapes of its terms."""
        sorts = " ".join(_sort(part) for part in construct.parts)
        names = [f"x{number}" for number in range(len(construct.parts))]
        facts, given = [], []
        for part, name in zip(construct.parts, names, strict=True):
            if part is TermPart.TERM:
                facts.append(f"(= s{name} (shape {name}))")
                given.append(f"s{name}")
            else:
                given.append(f"(py-from-string {name})" if part is TermPart.WORD else name)

        @cache
        def shape(*arguments: Any) -> Any:
            shapes, attributes = [], []
            for part, argument in zip(construct.parts, arguments, strict=True):
                if part is TermPart.TERM:
                    shapes.append(_decoded(TermPart.ACCESS_SHAPE, argument))
                else:
                    attributes.append(_decoded(part, argument))
            try:
                return _encoded(construct.shape(shapes, tuple(attributes)))
            except ShapeError:
                return None

        call = f"(py-call {self._named(shape)} {' '.join(given)})"
        return (
            f"(constructor t-{construct.name} ({sorts}) T)\n"
            f"(rule ((= e (t-{construct.name} {' '.join(names)})) {' '.join(facts)} "
            f"(= s {call}) (!= s {_NOTHING})) ((set (shape e) s)) :ruleset shapes)"
        )

    def _rewriting(self, rule: Rule, variant: Mapping[str, int], name: str) -> str:
        """A rule: what it matches, the call that decides and computes, what it adds."""
        terms: dict[str, str] = {}
        attributes: dict[str, tuple[TermPart, str]] = {}
        left = _matched(rule.left, terms, attributes)
        facts = [f"(= e {left})"] if isinstance(rule.left, PatternTerm) else []
        if isinstance(rule.left, Variable):
            terms[rule.left.name] = "e"
        needed = [x for x in terms if x in rule.uses or isinstance(rule.left, Variable)]
        facts += [f"(= s{terms[x]} (shape {terms[x]}))" for x in needed]
        given = [f"s{terms[x]}" for x in needed]
        kinds = [TermPart.ACCESS_SHAPE] * len(needed)
        for used in (x for x in attributes if x in rule.uses):
            kind, at = attributes[used]
            kinds.append(kind)
            given.append(f"(py-from-string {at})" if kind is TermPart.WORD else at)
            needed.append(used)
        growth = _constructs(rule.right)

        @cache
        def computed(*arguments: Any) -> tuple[Any, ...] | None:
            environment = {**self._parameters, **variant}
            for used, kind, argument in zip(needed, kinds, arguments, strict=True):
                environment[used] = _decoded(kind, argument)
            values = rule.computed(environment)
            return None if values is None else tuple(_encoded(value) for value in values)

        def decide(*arguments: Any) -> Any:
            if self._is_exhausted(growth):
                return None
            values = computed(*arguments)
            if values is not None:
                self._foreseen += growth
                self._hits[rule.name] += 1
            return values

        facts += [
            f"(= r (py-call {self._named(decide)} {' '.join(given)}))",
            f"(!= r {_NOTHING})",
        ]
        wanted = _wanted(rule.right)
        made = {
            let: f"(py-call {_object(itemgetter(place))} r)"
            for place, (let, _) in enumerate(rule.lets)
            if let in wanted
        }
        made |= {bound: _constant(TermPart.INTEGER, value) for bound, value in variant.items()}
        actions = [f"(let v{let[1:]} {text})" for let, text in made.items()]
        known = {x: at for x, (_, at) in attributes.items()} | {x: f"v{x[1:]}" for x in made}
        right = _made(rule.right, terms, known)
        return (
            f"(rule ({' '.join(facts)}) ({' '.join(actions)} (union e {right})) "
            f':ruleset rules :name "{name}")'
        )

    def _is_exhausted(self, growth: int) -> bool:
        """Whether the next nodes would be too many, or too late."""
        if self.allowance.exhausted:
            late = time.monotonic() - self.allowance.deadline
            if late > self.allowance.overtime:
                raise LimitError("an iteration takes too long")
            return True
        if self._foreseen + growth > REPEATED * self.allowance.nodes:
            self.allowance.exhausted = "nodes"
        elif time.monotonic() > self.allowance.deadline:
            self.allowance.exhausted = "seconds"
        return bool(self.allowance.exhausted)


def _encoded(value: Any) -> Any:
    """A value such that equal ones have equal pickles: shapes are flat tuples."""
    if isinstance(value, AccessShape):
        return (len(value.access), *value.dims)
    return value


def _decoded(part: TermPart, value: Any) -> Any:
    if part is TermPart.ACCESS_SHAPE:
        return AccessShape(value[1 : value[0] + 1], value[value[0] + 1 :])
    return value


def _object(value: Any) -> str:
    """A Python object as egglog's text has it."""
    import cloudpickle  # type: ignore[import-untyped]

    return f'(py-object "{base64.b64encode(cloudpickle.dumps(value)).decode()}")'


def _constant(part: TermPart, value: Any) -> str:
    return f'"{value}"' if part is TermPart.WORD else _object(_encoded(value))


def _sort(part: TermPart) -> str:
    return {TermPart.TERM: "T", TermPart.WORD: "String"}.get(part, "PyObject")


def _matched(
    pattern: Pattern, terms: dict[str, str], attributes: dict[str, tuple[TermPart, str]]
) -> str:
    """A left side; names of its variables are collected."""
    if isinstance(pattern, Variable):
        return terms.setdefault(pattern.name, f"v{pattern.name[1:]}")
    operands, given = iter(pattern.operands), iter(pattern.attributes)
    parts = []
    for part in CONSTRUCTS[pattern.construct].parts:
        if part is TermPart.TERM:
            parts.append(_matched(next(operands), terms, attributes))
            continue
        attribute = next(given)
        if isinstance(attribute, Variable):
            name = f"v{attribute.name[1:]}"
            parts.append(attributes.setdefault(attribute.name, (part, name))[1])
        else:
            parts.append(_constant(part, attribute))
    return f"(t-{pattern.construct} {' '.join(parts)})"


def _made(pattern: Pattern, terms: Mapping[str, str], attributes: Mapping[str, str]) -> str:
    """A right side."""
    if isinstance(pattern, Variable):
        return terms[pattern.name]
    operands, given = iter(pattern.operands), iter(pattern.attributes)
    parts = []
    for part in CONSTRUCTS[pattern.construct].parts:
        if part is TermPart.TERM:
            parts.append(_made(next(operands), terms, attributes))
            continue
        attribute = next(given)
        parts.append(
            attributes[attribute.name]
            if isinstance(attribute, Variable)
            else _constant(part, attribute)
        )
    return f"(t-{pattern.construct} {' '.join(parts)})"


def _wanted(pattern: Pattern) -> set[str]:
    """Variables of attributes in a right side."""
    if isinstance(pattern, Variable):
        return set()
    own = {x.name for x in pattern.attributes if isinstance(x, Variable)}
    return own.union(*(_wanted(x) for x in pattern.operands))


def _constructs(pattern: Pattern) -> int:
    """The most nodes that a right side adds."""
    if isinstance(pattern, Variable):
        return 0
    return 1 + sum(_constructs(x) for x in pattern.operands)


_NOTHING = _object(None)

_SCHEMA = """\
(sort T)
(function shape (T) PyObject :merge old)
(ruleset shapes)
(ruleset rules)
"""
