"""Machine code of these tests lies in a folder of their own, as that of :mod:`tests.codegen`."""

from __future__ import annotations

from tests.codegen.conftest import _apart, anew, code_folder, folder

__all__ = ["_apart", "anew", "code_folder", "folder"]
