"""Malformed program texts: each error is one line, at the right place, with a hint."""

from __future__ import annotations

import random

import pytest

from fuseloom.errors import FuseloomError, ParseError, ProgramError
from fuseloom.program import parse, print_program
from fuseloom.program.limits import MAX_TEXT_CHARS

HEAD = "A: 3x4 csr\nB: 4x5 dense\nv: 4 compressed\n"

# (what, text, line, column, part of the message)
CASES = [
    ("concat axis", HEAD + "T[i,c] = concat[c](A[i,j], A[i,c])", 4, 17, "lacks the index c"),
    ("concat indices", HEAD + "T[i,c] = concat[c](A[i,c], v[c])", 4, 28, "lacks the index i"),
    ("concat two axes", HEAD + "T[i,c] = concat[i,c](A[i,c], A[i,c])", 4, 10, "names 2 indices"),
    ("concat no axis", HEAD + "T[i,c] = concat(A[i,c], A[i,c])", 4, 10, "names 0 indices"),
    ("concat of one", HEAD + "T[i,c] = concat[c](A[i,c])", 4, 10, "concat of one tensor"),
    ("concat size", HEAD + "T: 3x9 csf\nT[i,c] = concat[c](A[i,c], A[i,c])", 5, 1, "4 + 4"),
    ("concat reduces", HEAD + "T[i] = concat[c](A[i,c], A[i,c])", 4, 1, "cannot also reduce c"),
    ("product of one", HEAD + "T[i] = product(A[i,c])", 4, 8, "product of one tensor"),
    ("product axis", HEAD + "T[i] = product[c](A[i,c], v[c])", 4, 8, "names 1 index"),
    ("product of a number", HEAD + "T[i] = product(A[i,c], 3)", 4, 24, "only a number"),
    ("several operands", HEAD + "T[i] = exp(A[i,c], v[c])", 4, 8, "does not take several"),
    ("reshape undeclared", HEAD + "T[a] = reshape(A[i,j])", 4, 1, "is not declared"),
    ("reshape places", HEAD + "T: 11 csf\nT[a] = reshape(A[i,j])", 5, 1, "12 places, T has 11"),
    ("reshape inside", HEAD + "T[a] = exp(reshape(A[i,j]))", 4, 12, "does not say its shape"),
    ("unknown tensor", HEAD + "T[i] = A[i,j] * w[j]", 4, 17, "w is neither declared"),
    ("misspelt tensor", "feat: 4 dense\nT[i] = fea[i]", 2, 8, "fea is neither declared"),
    ("assigned twice", HEAD + "T[i] = A[i,j]\nT[i] = A[i,k]", 5, 1, "assigned twice"),
    ("read too early", HEAD + "U[i] = T[i]\nT[i] = A[i,j]", 4, 8, "before it is assigned"),
    ("reads itself", HEAD + "T[i] = T[i] * A[i,j]", 4, 8, "also reads it"),
    ("rank mismatch", HEAD + "T[i] = A[i]", 4, 8, "A has 2 dimensions"),
    ("rank of declared output", HEAD + "Y: 3 csf\nY[i,j] = A[i,j]", 5, 1, "Y has 1 dimension"),
    ("output diagonal", HEAD + "T[j,j] = v[j]", 4, 5, "occurs twice"),
    ("two sizes", HEAD + "T[i,j] = A[i,k] * B[j,k]", 4, 23, "index k has two sizes: 4"),
    ("output size", HEAD + "Y: 9 csf\nY[i] = A[i,j]", 5, 3, "index i has two sizes: 3"),
    ("unbound output", HEAD + "T[i,l] = A[i,j]", 4, 5, "in no operand"),
    ("zero dimension", "A: 0x4 csr\nT[i] = A[i,j]", 1, 4, "dimension 0 of A is 0"),
    ("negative dimension", "A: 3x-4 csr\nT[i] = A[i,j]", 1, 4, "dimension 1 of A is -4"),
    ("huge dimension", "A: 3x99999999999999999999 csr\nT[i] = A[i,j]", 1, 4, "exceeds"),
    ("huge literal", f"A: {'9' * 5000} csf\nT = A[i]", 1, 4, "exceeds"),
    ("rank limit", f"A: {'x'.join(['2'] * 13)} csf\nT = A[i]", 1, 4, "13 dimensions"),
    ("mode order", "A: 3x4 [dense, compressed] order 0,0\nT[i] = A[i,j]", 1, 34, "permutation"),
    ("order of csr", "A: 3x4 csr order 1,0\nT[i] = A[i,j]", 1, 8, "already fixes"),
    ("format length", "A: 3x4x5 csr\nT[i] = A[i,j,k]", 1, 10, "2 levels"),
    ("format list", "A: 3x4 [dense]\nT[i] = A[i,j]", 1, 9, "1 level"),
    ("unknown format", "A: 3x4 crs\nT[i] = A[i,j]", 1, 8, "no format is called 'crs'"),
    ("unknown level", "A: 3x4 [dense, sparse]\nT[i] = A[i,j]", 1, 16, "called 'sparse'"),
    (
        "singleton outermost",
        "A: 3x4 [singleton, compressed]\nT[i] = A[i,j]",
        1,
        9,
        "singleton level outermost",
    ),
    ("all singleton", "A: 3x4 singleton\nT[i] = A[i,j]", 1, 8, "singleton level outermost"),
    ("coo of a vector", "v: 4 coo\nT = v[i]", 1, 6, "coo keeps tuples"),
    (
        "singleton intermediate",
        HEAD + "T: 3x5 coo\nT[i,l] = A[i,j] * B[j,l]\nY[i,l] = relu(T[i,l])",
        4,
        8,
        "has a singleton level",
    ),
    ("block edge", "A: 8x8 csr block 0\nT[i] = A[i,j]", 1, 18, "the block edge of A is 0"),
    ("huge block", "A: 8x8 csr block 99999999999\nT[i] = A[i,j]", 1, 18, "block edge of A is"),
    ("block does not divide", "A: 8x9 csr block 4\nT[i] = A[i,j]", 1, 18, "dimension 1 of A"),
    ("block over too many", "A: 4x4x4 csf block 2 over 0,1,2\nT = A[i,j,k]", 1, 20, "3 dimensions"),
    ("block over unknown", "A: 4x4 csf block 2 over 2\nT = A[i,j]", 1, 18, "blocked over 2"),
    ("block over twice", "A: 4x4 csf block 2 over 1,1\nT = A[i,j]", 1, 18, "blocked over 1,1"),
    ("block without edge", "A: 4x4 csf block\nT = A[i,j]", 1, 17, "ends too early"),
    ("block over nothing", "A: 4x4 csf block 2 over\nT = A[i,j]", 1, 24, "ends too early"),
    ("block before order", "A: 4x4 csf block 2 order 1,0\nT = A[i,j]", 1, 20, "'order' is not"),
    ("block of a scalar", "s: scalar block 2\nT = s", 1, 11, "'block' is not expected"),
    (
        "index half blocked",
        "A: 8x8 csr block 4\nX: 8x5 dense\nT[i,j] = A[i,k] * X[k,j]",
        3,
        21,
        "index k of T[i,j] is blocked, as dimension 1 of A is, and not blocked, as dimension 0 "
        "of X is not",
    ),
    (
        "result half blocked",
        "T: 8x8 csf block 4 over 0\nA: 8x8 csr block 4\nT[i,j] = relu(A[i,j])",
        3,
        5,
        "as dimension 1 of T is not",
    ),
    (
        "half blocked in two steps",
        "A: 8x8 csr block 4\nX: 8x8 csr\nT[i,j] = A[i,j]\nU[i,j] = T[i,k] * X[k,j]",
        4,
        21,
        "as dimension 1 of A is, and not blocked, as dimension 0 of X is not",
    ),
    (
        "two block edges",
        "A: 8x8 csr block 4\nb: 8 dense block 2\nT[i] = A[i,j] * b[j]",
        2,
        18,
        "A has blocks of edge 4, b of 2",
    ),
    (
        "three blocked indices",
        "A: 8x8 csr block 4\nb: 8 dense block 4\nT[i,j,k] = A[i,j] * b[k]",
        3,
        3,
        "T[i,j,k] has 3 blocked indices (i, j, k)",
    ),
    ("declared twice", "A: 3x4 csr\nA: 3x4 csr\nT[i] = A[i,j]", 2, 1, "first on line 1"),
    ("reserved name", "exp: 3 dense\nT[i] = A[i]", 1, 1, "word of the language"),
    ("unknown function", HEAD + "T[j] = ex(v[j])", 4, 8, "no function is called 'ex'"),
    ("function brackets", HEAD + "T[j] = exp[j] v[j]", 4, 8, "exp reduces no index"),
    ("max without index", HEAD + "T = max(v[j])", 4, 5, "which index"),
    ("max of nothing", HEAD + "T[j] = max[] v[j]", 4, 8, "names no index"),
    ("max index missing", HEAD + "T[i] = max[k] A[i,j]", 4, 12, "which its operand lacks"),
    ("max index twice", HEAD + "T[i] = max[j,j] A[i,j]", 4, 14, "twice"),
    ("max index in output", HEAD + "T[i,j] = max[j] A[i,j]", 4, 14, "still in the output"),
    ("max leaves an index", HEAD + "T = max[i] A[i,j]", 4, 16, "index j is missing"),
    ("ambiguous reduction", HEAD + "s[i] = exp(A[i,j])", 4, 16, "index j is missing"),
    ("ambiguous shift", HEAD + "s[i] = A[i,j] + 1", 4, 12, "index j is missing"),
    ("ambiguous add", HEAD + "s[i] = exp(A[i,j] + v[j])", 4, 16, "index j is missing"),
    ("outer sum", HEAD + "w: 3 dense\nT[i,j] = w[i] + v[j]", 5, 1, "outer sum"),
    ("unknown option", HEAD + "option broadcast dense\nT[i] = A[i,j]", 4, 8, "no option"),
    ("option value", HEAD + "option broadcast_add full\nT[i] = A[i,j]", 4, 22, "cannot be"),
    (
        "option twice",
        HEAD + "option broadcast_add dense\noption broadcast_add dense\nT[i] = A[i,j]",
        5,
        8,
        "given twice",
    ),
    ("unknown output", HEAD + "T[i] = A[i,j]\noutput t", 5, 8, "neither declared"),
    ("input as output", HEAD + "T[i] = A[i,j]\noutput A", 5, 8, "is an input"),
    ("output twice", HEAD + "T[i] = A[i,j]\noutput T, T", 5, 11, "named twice"),
    (
        "dense intermediate",
        HEAD + "T: 3x5 dense\nT[i,l] = A[i,j] * B[j,l]\nY[i,l] = relu(T[i,l])",
        4,
        8,
        "has a dense level 0 (i), but may lack coordinates there: A is stored sparse",
    ),
    ("number divided", HEAD + "T[j] = 1 / v[j]", 4, 8, "cannot be divided"),
    ("division by zero", HEAD + "T[j] = v[j] / 0", 4, 15, "division by zero"),
    ("infinite constant", HEAD + "T[j] = v[j] * 1e999", 4, 15, "too large"),
    ("only a number", HEAD + "T = 2 + 3", 4, 5, "must read a tensor"),
    ("function of a number", HEAD + "T[j] = v[j] * exp(2)", 4, 19, "exp of a number"),
    ("side by side", HEAD + "T[i] = A[i,j] v[j]", 4, 8, "no reduction is called 'A'"),
    ("missing operand", HEAD + "T[i] = A[i,j] *", 4, 16, "ends too early"),
    ("missing operand, comment", HEAD + "T[i] = A[i,j] *  # v", 4, 21, "ends too early"),
    ("missing bracket", HEAD + "T[i = A[i,j]", 4, 5, "'=' is not expected"),
    ("missing parenthesis", HEAD + "T[i] = (A[i,j] * v[j]", 4, 22, "ends too early"),
    ("fraction as index", HEAD + "T[i] = A[i,0.5]", 4, 13, "not expected here"),
    ("no dimensions", "A: csr\nT[i] = A[i,j]", 1, 4, "'csr' is not expected"),
    ("no format", "A: 3x4\nT[i] = A[i,j]", 1, 7, "ends too early"),
    ("strange character", HEAD + "T[i] = A[i,j] @ v[j]", 4, 15, "'@' has no meaning"),
    ("non-ascii", HEAD + "T[i] = A[i,j] · v[j]", 4, 15, "no meaning"),
    ("control character", HEAD + "T[i] = A[i,j] \x00", 4, 15, "no meaning"),
    ("header late", HEAD + "program p\nT[i] = A[i,j]", 4, 9, "'p' is not expected"),
    ("no text", "", 1, 1, "no statement"),
    ("only comments", "# nothing\n// here\n", 1, 1, "no statement"),
    ("no statement", HEAD, 1, 1, "no statement"),
    ("long name", HEAD + f"{'T' * 101}[j] = v[j]", 4, 1, "101 characters"),
    ("parentheses", HEAD + f"T[j] = {'(' * 200}v[j]{')' * 200}", 4, 208, "nested more than"),
    ("functions", HEAD + f"T[j] = {'exp(' * 200}v[j]{')' * 200}", 4, 408, "nested more than"),
    ("long sum", HEAD + "T[j] = " + " + ".join(["v[j]"] * 200), 4, 8, "nested more than"),
    (
        "too many statements",
        HEAD + "\n".join(f"T{n}[i] = A[i,j]" for n in range(5001)),
        5004,
        1,
        "the limit is 5,000",
    ),
    ("too long", "#" * (MAX_TEXT_CHARS + 1), 1, 1, "1,000,001 characters"),
]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_malformed(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises((ParseError, ProgramError)) as caught:
        parse(text)
    error = caught.value
    assert message in error.message
    assert "\n" not in str(error)
    assert len(str(error)) < 500
    assert (error.line, error.column or 1) == (line, column)
    assert error.hint
    assert str(error).startswith(f"line {line}, column {column}: ")


@pytest.mark.parametrize("seed", range(5))
def test_no_mutation_escapes_as_another_error(seed: int) -> None:
    """Random edits of a valid text either parse and print back, or fail in one line."""
    rng = random.Random(seed)  # the seed is the test's name
    valid = HEAD + "T[i,l] = relu(A[i,j] * B[j,l]) / 2 # c\nm[i] = max[l] T[i,l]\noutput m\n"
    for _ in range(200):
        text = valid
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            piece = rng.choice([*"ATij[]()=+-*/,:. \n#x0'@\r\x85", "max[j]", "order ", "output "])
            text = text[:at] + piece + text[at + rng.randint(0, 2) :]
        try:
            program = parse(text)
        except FuseloomError as error:
            failure = error
        else:
            assert parse(print_program(program)) == program
            continue
        assert str(failure).splitlines() == [str(failure)]
        assert failure.hint
        assert failure.line is not None


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 30


def test_source_is_named() -> None:
    with pytest.raises(FuseloomError, match=r"^a\.loom: line 1, column 1: the program has no"):
        parse("", source="a.loom")


def test_did_you_mean() -> None:
    for text, meant in [
        ("A: 3 compresed\nT[i] = A[i]", "'compressed'"),
        ("A: 3 dense\nT[i] = sigmod(A[i])", "'sigmoid'"),
        ("Feat: 3 dense\nT[i] = feat[i]", "'Feat'"),
        ("A: 3 dense\nLogits[i] = A[i]\noutput logit", "'Logits'"),
    ]:
        with pytest.raises(FuseloomError) as caught:
            parse(text)
        assert caught.value.hint == f"did you mean {meant}?"
