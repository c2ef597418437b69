"""Files of tensors, written for tests."""

from __future__ import annotations

from pathlib import Path


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path
