"""Answers that are tried: the right one of each exercise, and three wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from fuseloom_workbench.notebook.exercises import Exercise, check

Wrong = Mapping[Any, str] | Iterable[tuple[Any, str]]
"""Answers, each with what is to be said of it."""


def tried(
    exercises: Mapping[str, Exercise], answers: Mapping[str, tuple[Any, Wrong]]
) -> tuple[Callable[[], None], Callable[[str], None]]:
    """Two tests of a course module: every exercise is tried, and what is said of the answers."""

    def every_exercise_is_tried() -> None:
        assert answers.keys() == exercises.keys()

    @pytest.mark.parametrize("key", answers)
    def right_and_wrong(key: str) -> None:
        right, wrong = answers[key]
        assert check(key, right).ok
        pairs = list(wrong.items() if isinstance(wrong, Mapping) else wrong)
        assert len(pairs) == 3
        for answer, said in pairs:
            verdict = check(key, answer)
            assert not verdict.ok
            assert said in verdict.problem

    return every_exercise_is_tried, right_and_wrong
