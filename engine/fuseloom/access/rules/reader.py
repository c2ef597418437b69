"""Rules as text."""

from __future__ import annotations

from fuseloom.access.constructs import TermPart
from fuseloom.access.rules.expressions import compile_expression
from fuseloom.access.rules.rule import (
    Pattern,
    PatternTerm,
    Rule,
    Variable,
    attribute_variables,
    term_variables,
)
from fuseloom.access.text import (
    Atom,
    Expression,
    ListExpression,
    fault,
    read_attribute,
    read_construct,
    read_expressions,
    read_integer,
)
from fuseloom.errors import ParseError, shortened

PARAMETERS = frozenset({"rows", "columns"})
"""What rules know of the hardware."""

FORM = '(rule NAME "TEXT" LEFT => RIGHT (each ?D 0 1) (let ?X EXPRESSION) (where CONDITION ...))'


def read_rules(text: str, source: str | None = None) -> tuple[Rule, ...]:
    """Rules, each ``(rule NAME "TEXT" LEFT => RIGHT PARTS...)``.

    Parts are ``(each ?d 0 1)``: values of a variable that the left side does not bind;
    ``(let ?x EXPRESSION)``: an attribute of the right side; ``(where CONDITION ...)``.

    Raises
    ------
    ParseError
        Of text that is no rule, two rules of one name, or a variable that nothing binds.

    Examples
    --------
    >>> rule, = read_rules('(rule swap "x" (pair ?a ?a) => (pair ?a ?a))')
    >>> rule.name, rule.text
    ('swap', 'x')
    """
    try:
        rules: dict[str, Rule] = {}
        for expression in read_expressions(text):
            rule = _rule(expression, text)
            if rule.name in rules:
                raise fault(expression, f"there are two rules {rule.name}")
            rules[rule.name] = rule
    except ParseError as error:
        error.source = error.source or source
        raise
    return tuple(rules.values())


def _rule(expression: Expression, text: str) -> Rule:
    match expression:
        case ListExpression(
            items=(Atom(text="rule"), Atom(text=name), Atom(text=why), left, Atom(text="=>"),
                   right, *parts)
        ) if why.startswith('"'):  # fmt: skip
            pass
        case _:
            raise fault(expression, "this is no rule", f"write {FORM}")
    left_pattern, right_pattern = _pattern(left), _pattern(right)
    terms, attributes = term_variables(left_pattern), attribute_variables(left_pattern)
    both = set(terms) & set(attributes)
    if both:
        raise fault(left, f"{min(both)} stands for a term and for an attribute")
    known = frozenset({*terms, *attributes, *PARAMETERS})
    lets, conditions, conditions_text, each = [], [], [], []
    uses: set[str] = set()
    for part in parts:
        match part:
            case ListExpression(items=(Atom(text="each"), Atom(text=variable), *values)):
                each.append((variable, tuple(read_integer(x) for x in values)))
                known |= {variable}
            case ListExpression(items=(Atom(text="let"), Atom(text=variable), value)):
                if variable in known:
                    raise fault(part, f"{variable} is bound already")
                lets.append((variable, compile_expression(value, known)))
                uses |= _variables(value)
                known |= {variable}
            case ListExpression(items=(Atom(text="where"), *stated)):
                conditions += [compile_expression(x, known) for x in stated]
                conditions_text += [_text(x) for x in stated]
                uses |= {name for x in stated for name in _variables(x)}
            case _:
                raise fault(part, "a rule has no such part", f"write {FORM}")
    for variable in attribute_variables(right_pattern):
        if variable not in known or variable in terms:
            raise fault(right, f"nothing binds {variable}", "bind it by (let ...) or (each ...)")
    for variable in term_variables(right_pattern):
        if variable not in terms:
            raise fault(right, f"no term on the left is {variable}")
    return Rule(
        name, why.strip('"'), left_pattern, right_pattern, tuple(lets), tuple(conditions),
        tuple(conditions_text), tuple(each), frozenset(uses), _text(expression),
    )  # fmt: skip


def _text(expression: Expression) -> str:
    """An expression on one line."""
    if isinstance(expression, Atom):
        return expression.text
    return f"({' '.join(_text(x) for x in expression.items)})"


def _variables(expression: Expression) -> set[str]:
    if isinstance(expression, Atom):
        return {expression.text} if expression.text.startswith("?") else set()
    return {name for x in expression.items for name in _variables(x)}


def _pattern(expression: Expression) -> Pattern:
    if isinstance(expression, Atom):
        if not expression.text.startswith("?"):
            raise fault(
                expression,
                f"{shortened(expression.text, 40)} is no variable",
                "variables begin with a question mark, as ?a",
            )
        return Variable(expression.text)
    construct = read_construct(expression)
    attributes: list[object] = []
    operands: list[Pattern] = []
    for part, argument in zip(construct.parts, expression.items[1:], strict=True):
        if part is TermPart.TERM:
            operands.append(_pattern(argument))
        elif isinstance(argument, Atom) and argument.text.startswith("?"):
            attributes.append(Variable(argument.text))
        else:
            attributes.append(read_attribute(part, argument))
    return PatternTerm(construct.name, tuple(attributes), tuple(operands))  # type: ignore[arg-type]
