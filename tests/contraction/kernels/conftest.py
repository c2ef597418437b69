"""Machine code of these tests lies in a folder of their own."""

from __future__ import annotations

import pytest

from engine.contraction.kernels.compile import ENVIRONMENT


@pytest.fixture(scope="session")
def code_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("code"))


@pytest.fixture(autouse=True)
def _apart(code_folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, code_folder)
