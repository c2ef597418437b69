"""Folders of tensors: bad data, and names that would leave the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom.errors import FuseloomError
from tests.dataflow.samml.exchange.protobuf import two_lanes


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("B_mode_0_crd", None, "cannot read"),
        ("B_mode_0_crd", "0\nx\n", "is not a list of numbers"),
        ("B_mode_1_seg", "0\n9\n", "level 1 (dimension 1): seg has shape 2"),
        ("B_mode_vals", "1\n2\n", "stores 6 positions, but 2 values"),
        ("B_mode_vals", "1\n" * 6 * 256, "has 16x16 blocks as values, which cannot be run"),
        ("B_mode_shape", "4\n", "B has 1 dimension, the graph reads 2"),
        ("B_mode_shape", "4\n99999999999\n", "is no shape"),
        ("B_mode_1_crd", "0\n1\n0\n1\n0\n7\n", "is outside 0..2"),
    ],
)
def test_bad_data(tmp_path: Path, name: str, content: str | None, message: str) -> None:
    b = two_lanes(tmp_path)
    path = tmp_path / f"tensor_{name}"
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(FuseloomError) as caught:
        b.run(tmp_path)
    assert message in str(caught.value)


def test_names_cannot_leave_the_folder(tmp_path: Path) -> None:
    b = two_lanes(tmp_path)
    for operation in b.message.graph.operators:
        if operation.WhichOneof("op") in ("array", "fiber_lookup"):
            getattr(operation, operation.WhichOneof("op")).tensor = "../secret"
    with pytest.raises(FuseloomError, match="cannot name a tensor's files"):
        b.run(tmp_path)
