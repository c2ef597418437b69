"""The identity of runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import fuseloom as fl
from fuseloom.exploration.store import RunIdentity, data_hash, engine_version
from tests.exploration.store.samples import PROGRAM, identity

ONE = RunIdentity("p", "s", "d", "m", "e", "n", {"a": "b"})


def test_everything_counts() -> None:
    changed = [
        replace(ONE, program="q"), replace(ONE, schedule="q"), replace(ONE, data="q"),
        replace(ONE, machine="q"), replace(ONE, engine="q"), replace(ONE, numerics="q"),
        replace(ONE, settings={}), replace(ONE, settings={"a": "c"}),
        replace(ONE, program="ps", schedule=""), replace(ONE, program="", schedule="ps"),
    ]  # fmt: skip
    keys = {run.key for run in [ONE, *changed]}
    assert len(keys) == 11
    assert all(len(key) == 64 for key in keys)


def test_the_key_stays_what_it_is() -> None:
    """Stores hold keys: another way to compute them would do every run again."""
    assert identity(1).key == "84910278ec5146c0349aa2931951947a562fbf2f5a8b116593c3ba5bf4ef5e0d"
    assert (
        replace(ONE, settings={"b": "1", "a": "2"}).key
        == replace(ONE, settings={"a": "2", "b": "1"}).key
    )


def test_data_count_by_name_and_content() -> None:
    program = fl.parse(PROGRAM)

    def stored(*arrays: object) -> dict[str, fl.StoredTensor]:
        return {
            name: fl.StoredTensor.from_dense(program.tensor(name), np.asarray(array, np.float64))
            for name, array in zip("Ax", arrays, strict=True)
        }

    a, x = np.eye(4), np.ones(4)
    first = data_hash(stored(a, x))
    assert first == data_hash(dict(reversed(stored(a, x).items())))
    assert first != data_hash(stored(a, 2 * x))
    assert first != data_hash({"A": stored(a, x)["A"]})


def test_the_version_tells_sources_apart() -> None:
    version = engine_version()
    assert version.startswith(fl.__version__ + "+")
    assert version == engine_version()
    assert RunIdentity("p", "s", "d", "m").engine == version
