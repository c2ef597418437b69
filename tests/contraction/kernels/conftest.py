"""Machine code of these tests lies in a folder of their own, as that of :mod:`tests.codegen`."""

from __future__ import annotations

from tests.codegen.conftest import anew, apart, code_folder, folder

__all__ = ["anew", "apart", "code_folder", "folder"]
