"""Elements beside what they should be: bounds, poles, patterns."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.sim.matched import Matched, MatchVerdict
from fuseloom.program import Format, StoredTensor, Tensor
from fuseloom.program.rounded.tensors import Listed

VECTOR = Tensor("v", (6,), Format.compressed(1))


def matched(got: dict[int, float], want: dict[int, tuple[float, float]]) -> Matched:
    """Stored elements beside wanted ones with bounds, by coordinate."""
    stored = StoredTensor.from_coo(
        VECTOR, np.array([[c] for c in got]), np.array(list(got.values())), computed=True
    )
    values, bounds = (np.array(column) for column in zip(*want.values(), strict=True))
    return Matched.of(stored, Listed(np.array([list(want)]), values, bounds), (None,))


def told(found: Matched) -> MatchVerdict:
    verdict = MatchVerdict()
    found.tell("T", found.bounds, verdict)
    return verdict


def test_within_the_bound_and_beyond() -> None:
    verdict = told(matched({0: 1.0, 3: 2.5}, {0: (1.0, 0.0), 3: (2.0, 1.0)}))
    assert verdict.pattern
    assert verdict.share == 0.5
    assert told(matched({3: 4.5}, {3: (2.0, 1.0)})).share == 2.5


def test_an_element_too_many_or_too_few_is_another_pattern() -> None:
    want = {0: (1.0, 0.1), 3: (2.0, 0.1)}
    assert not told(matched({0: 1.0}, want)).pattern
    assert not told(matched({0: 1.0, 3: 2.0, 4: 0.0}, want)).pattern
    assert told(matched({0: 1.0, 3: 2.0}, want)).pattern


def test_what_is_certain_and_no_number_must_be_that() -> None:
    assert told(matched({1: np.nan}, {1: (np.nan, 0.0)})).share == 0.0
    assert told(matched({1: 3.0}, {1: (np.nan, 0.0)})).share > 1
    assert told(matched({1: np.inf}, {1: (-np.inf, 0.0)})).share > 1


def test_without_a_bound_nothing_is_determined() -> None:
    verdict = told(matched({1: 7.0}, {1: (2.0, np.inf)}))
    assert verdict.undetermined == 1
    assert verdict.share == 0.0


def test_wide_bounds_make_suspects_of_what_differs() -> None:
    found = matched({0: 1.0, 3: 2.5}, {0: (1.0, 0.5), 3: (2.0, 1.0)})
    assert found.suspects.tolist() == [False, True]
    assert not found.explained(np.zeros(2))
    assert found.explained(np.full(2, 0.2))


@pytest.mark.parametrize(
    ("got", "want", "told_of"),
    [
        ({0: 1.0}, {0: (1.0, 0.0)}, None),
        ({0: 1.0, 3: 2.5}, {0: (1.0, 0.0), 3: (2.0, 0.1)}, "T[3] is 2.5, and should be 2"),
        ({0: 1.0, 4: 0.0, 3: 2.0}, {0: (1.0, 0.0)}, "T[3] is stored, and should not be"),
        ({0: 1.0}, {0: (1.0, 0.0), 2: (2.0, 0.0)}, "T[2] is not stored, and should be"),
    ],
)
def test_a_wrong_element_is_named(
    got: dict[int, float], want: dict[int, tuple[float, float]], told_of: str | None
) -> None:
    assert told(matched(got, want)).wrong == told_of


def test_of_wrong_elements_the_first_found_is_kept() -> None:
    verdict = told(matched({0: 1.5}, {0: (1.0, 0.1)}))
    found = matched({2: 9.0}, {2: (1.0, 0.1)})
    found.tell("U", found.bounds, verdict)
    assert verdict.wrong == "T[0] is 1.5, and should be 1"
