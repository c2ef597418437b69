"""Machine code of these tests lies in a folder of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fuseloom.codegen.code_folder import ENVIRONMENT
from fuseloom.codegen.shared_objects import LOADED


@pytest.fixture(scope="session")
def code_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("code"))


@pytest.fixture(autouse=True)
def apart(code_folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, code_folder)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, as a new process finds it."""
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    LOADED.clear()
    return tmp_path / "networks"


@pytest.fixture
def anew() -> Callable[[], None]:
    return LOADED.clear
