"""The rules that contradicting tokens break; a kernel returns the index, the user the text."""

from __future__ import annotations

RULES: tuple[str, ...] = (
    "",
    "reference outside the stored fibers",
    "reference outside the stored values",
    "coordinate and reference disagree",
    "repeat signal without a token to repeat",
    "operands disagree on where fibers end",
    "an operand's coordinate and payload disagree",
    "an operand has the empty token as a coordinate",
    "both operands are empty",
    "a unary function of the empty token",
    "values and guide disagree on where fibers end",
    "outer, inner and values disagree",
    "coordinate outside the accumulator's dimension",
    "outer and inner disagree on an empty fiber",
    "a row starts with an empty fiber of too high a stop level",
    "an empty value",
    "outer and inner disagree on where fibers end",
    "value and coordinate disagree",
    "a lane and the guide disagree on where fibers end",
)

(
    NONE,
    BAD_FIBER,
    BAD_VALUE_REFERENCE,
    LOCATE_MISMATCH,
    NOTHING_TO_REPEAT,
    OPERANDS_DISAGREE,
    PAYLOAD_DISAGREES,
    EMPTY_COORDINATE,
    BOTH_EMPTY,
    UNARY_OF_EMPTY,
    GUIDE_DISAGREES,
    SPACC_DISAGREES,
    OUTSIDE_DIMENSION,
    SPACC_EMPTY_FIBER,
    SPACC_LEADING,
    EMPTY_VALUE,
    DROP_DISAGREES,
    VALDROP_DISAGREES,
    LANES_DISAGREE,
) = range(len(RULES))
