"""The codes that kernels and the engine share: fields apart, bits apart."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.sim import observe
from fuseloom.dataflow.sim.compiled import control, layout, runs, waits
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, TOKEN_DTYPE, Stop, encode


@pytest.mark.parametrize("record", ["RUN", "CREDIT", "CHANNEL"])
def test_records_are_whole_words_without_gaps(record: str) -> None:
    kind = getattr(layout, record)
    assert kind.itemsize == 8 * len(kind.names)


def test_every_field_of_a_node_is_a_word_inside_the_record() -> None:
    for name in layout.NODE.names:
        field, offset = layout.NODE.fields[name][:2]
        assert field in (np.int64, np.float64)
        assert offset % 8 == 0
        assert offset + field.itemsize <= layout.NODE.itemsize


def test_flags_of_a_run_are_bits_of_their_own() -> None:
    flags = [runs.SLOPE, runs.STEP, runs.MEM, runs.RING, runs.UNUSUAL]
    kinds = [runs.LEAF, runs.STOP, runs.EMPTY, runs.DONE, runs.REPEAT,
             runs.SIGNAL_STOP]  # fmt: skip
    assert max(kinds) <= runs.KIND
    assert all(flag & runs.KIND == 0 and flag & (flag - 1) == 0 for flag in flags)
    assert len(set(flags)) == len(flags)


def test_the_table_begins_with_the_addresses_of_the_arrays() -> None:
    assert len(layout.SimulationState._fields) - 1 == control.ORDER
    assert control.NEXT_WAIT < control.SIZE <= control.BINS < control.START


def test_kinds_of_tokens_are_those_of_encoded_tokens() -> None:
    codes = encode([4, Stop(2), EMPTY, DONE])[TOKEN_DTYPE.names[0]].tolist()
    assert codes == [runs.LEAF, runs.STOP, runs.EMPTY, runs.DONE]


def test_reasons_to_wait_are_numbered_as_everywhere() -> None:
    ours = (waits.INPUT, waits.ROOM, waits.MEMORY)
    assert ours == (observe.INPUT, observe.ROOM, observe.MEMORY)
    assert max(ours) < 1 << control.WAIT_NODE
