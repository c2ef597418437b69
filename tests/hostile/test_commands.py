"""Hostile files, texts and words: each command line is answered soon, small, and in one line."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.hostile.files import CANARY, damaged
from tests.hostile.inputs import Input, written
from tests.hostile.ward import MESSAGE, PREFIX, ROOT, Outcome, run

SEED = 15
LEAST = 300
"""Inputs of different names there are at least."""
NAMED = ("pipe", "zero", "deep.json")
"""Paths whose messages are looked at: they are always among the inputs."""
WARDS = 2
"""Processes that inputs are shared out to."""
Answered = list[tuple[Input, Outcome]]


@pytest.fixture(scope="module", params=[2, pytest.param(1, marks=pytest.mark.fuzz)])
def every(request: pytest.FixtureRequest) -> int:
    """Of how many inputs one is given: each option and each kind of file still has some."""
    return int(request.param)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def answered(folder: Path, every: int) -> Answered:
    inputs = written(folder, SEED)
    assert len({given.name for given in inputs}) >= LEAST
    chosen = [
        given
        for number, given in enumerate(inputs)
        if number % every == 0 or not {*NAMED}.isdisjoint(given.words[-1:])
    ]
    return answers(chosen, folder)


def answers(inputs: list[Input], folder: Path) -> Answered:
    def part(number: int) -> Answered:
        mine = inputs[number::WARDS]
        return [*zip(mine, run([given.words for given in mine], folder), strict=True)]

    with ThreadPoolExecutor(WARDS) as pool:
        return [pair for pairs in pool.map(part, range(WARDS)) for pair in pairs]


def test_every_input_is_answered_in_one_clear_message(answered: Answered) -> None:
    faults = [f"{given.name}: {', '.join(o.faults)}" for given, o in answered if o.faults]
    assert not faults, f"seed {SEED}, {len(faults)} of {len(answered)}:\n" + "\n".join(faults)


def test_there_are_many_and_most_are_refused(answered: Answered, every: int) -> None:
    assert len({given.name for given, _ in answered}) >= LEAST // every
    by_status = Counter(outcome.status for _, outcome in answered)
    assert by_status[2] > 0.8 * len(answered)


def test_nothing_is_executed(answered: Answered, folder: Path) -> None:
    assert answered
    assert not list(folder.rglob(CANARY))


def test_messages_name_what_is_at_fault(answered: Answered) -> None:
    """A path that was given is told, as far as there is room."""
    told = {
        words[-1]: outcome.message for given, outcome in answered
        if len(words := given.words) > 1 and words[-1] in NAMED
    }  # fmt: skip
    assert len(told) == len(NAMED)
    assert all(path in message for path, message in told.items())


@pytest.mark.parametrize(
    "words",
    [["simulate", "/dev/zero"], ["conform", "deep.json"], ["simulate", "--seed", "x" * 9999]],
)
def test_as_a_process_of_its_own(words: list[str], answered: Answered, folder: Path) -> None:
    assert answered
    command = [sys.executable, "-m", "fuseloom", *words]
    done = subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(PREFIX)
    assert len(line) <= len(PREFIX) + MESSAGE


def test_damaged_copies_differ() -> None:
    import random

    rng = random.Random(SEED)
    content = bytes(range(256)) * 4
    assert len({damaged(content, rng) for _ in range(50)}) > 45
