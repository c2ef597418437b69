"""Names of indices, and the text of programs."""

from __future__ import annotations

import fuseloom as fl
from fuseloom.access.program_lines import LETTERS, Assignment, IndexNames, program_text


def test_an_index_counts_as_many_elements_everywhere() -> None:
    names = IndexNames(["j"])
    assert names.all_of((2, 3)) == ("i", "k")
    assert names.all_of((3, 3, 2)) == ("k", "l", "i")
    many = names.all_of((5,) * (len(LETTERS) + 3))
    assert len(set(many)) == len(many)
    assert "j1" not in many[: len(LETTERS) - 4]


def test_a_program_reads_what_the_text_declares() -> None:
    text = program_text(
        "sums", {"A": (2, 3)}, {"ones1": (4, 1)}, {"k": 2},
        [
            Assignment("t", (2,), ("i",), "max[k] A[i,k+1]"),
            Assignment("R", (4, 2), ("l", "i"), "t[i] * ones1[l,j]"),
        ],
        "R", adds_rows=True,
    )  # fmt: skip
    program = fl.parse(text)
    assert program.outputs == ("R",)
    values = fl.evaluate(program, {"A": [[9.0, 2.0, 3.0], [9.0, 5.0, 4.0]]})["R"].dense()
    assert values.tolist() == [[3.0, 5.0]] * 4
