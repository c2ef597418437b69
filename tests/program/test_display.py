"""A program in a notebook."""

from __future__ import annotations

from fuseloom.program import parse
from fuseloom.program.display import program_html


def test_tensors_statements_and_what_they_are() -> None:
    program = parse("A: 4x3 csr\nb: 3 dense\nt[i] = A[i,j] * b[j]\ny[i] = relu(t[i])")
    html = program_html(program)
    assert html == program._repr_html_()
    for text in ("4 × 3", "csr", "input", "between statements", "output", "y[i] = relu(t[i])"):
        assert text in html
