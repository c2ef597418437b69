"""Fixtures of the commands' tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import CHAIN, file


@pytest.fixture
def program(tmp_path: Path) -> str:
    """The file of a small program."""
    return file(tmp_path, "chain.loom", CHAIN)
