"""Tensors and models that came in files: kept by what they hold, for every process of a page.

A design names such a tensor or model by its key.  The folder is ``FUSELOOM_UPLOADS``, or
``uploads`` in the cache; what was not used for long is removed when it grows too large.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path

import numpy as np
import platformdirs

from fuseloom.atomic_files import replacing
from fuseloom.errors import DataError
from fuseloom.frontends.files import CoordinateTensor
from fuseloom.models import Loaded
from fuseloom.program.arrays import read_npz
from fuseloom.results.archive import SUFFIX, read_model
from fuseloom.wording import counted

VARIABLE = "FUSELOOM_UPLOADS"
MOST_BYTES = 2 << 30
"""Of all tensors that are kept."""
MOST_STORED = 8_000_000
"""Stored elements of one tensor."""
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class Upload:
    """A tensor of the program whose values came in a file.

    Attributes
    ----------
    tensor : str
        Of the program.
    key : str
        Of the values.
    label : str
        Name of the file.
    """

    tensor: str
    key: str
    label: str


def folder() -> Path:
    """Return the folder of tensors that came in files."""
    chosen = os.environ.get(VARIABLE)
    cache = os.environ.get("FUSELOOM_CACHE_DIR") or platformdirs.user_cache_dir(
        "fuseloom", appauthor=False
    )
    return Path(chosen) if chosen else Path(cache) / "uploads"


def put(tensor: CoordinateTensor) -> str:
    """Keep a tensor; its key comes back.

    Raises
    ------
    DataError
        If it has too many elements, or there is no room for it.
    """
    if tensor.nnz > MOST_STORED:
        raise DataError(
            f"{counted(tensor.nnz, 'stored element')}",
            hint=f"at most {MOST_STORED:,} here; the command line takes larger ones",
        )
    small = all(size < 1 << 31 for size in tensor.shape)
    coords = np.ascontiguousarray(tensor.coords, dtype=np.int32 if small else np.int64)
    values = np.ascontiguousarray(tensor.values, dtype=np.float32)
    shape = np.array(tensor.shape, dtype=np.int64)
    name = sha256(b"%d %d|" % (coords.ndim, len(shape)))
    for part in (shape, coords, values):
        name.update(part.tobytes())
    key = name.hexdigest()
    path = _path(key)
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            make_room(coords.nbytes + values.nbytes)
            with replacing(path) as file:
                np.savez(file, coords=coords, values=values, shape=shape)
        except OSError as problem:
            raise DataError(f"the file cannot be kept: {problem.strerror}") from None
    return key


def keep_model(source: Path) -> str:
    """Keep the archive of a model; the name comes back by which designs know it.

    Raises
    ------
    FuseloomError
        If it is no such archive, or there is no room for it.
    """
    name = read_model(source).program.name
    try:
        with source.open("rb") as file:
            key = file_digest(file, "sha256").hexdigest()[:12]
        path = model_file(key)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            make_room(source.stat().st_size)
            with source.open("rb") as file, replacing(path) as kept:
                shutil.copyfileobj(file, kept)
    except OSError as problem:
        raise DataError(f"the file cannot be kept: {problem.strerror}") from None
    return f"{name}@{key}"


def model_file(key: str) -> Path:
    """The file of the model with a key of twelve hexadecimal digits."""
    return folder() / f"{key}{SUFFIX}"


def get(key: str, label: str) -> CoordinateTensor:
    """The tensor of a key.

    Raises
    ------
    DataError
        If it is not there any more.
    """
    path = _path(key)
    if len(key) != 64 or not _HEX.issuperset(key) or not path.is_file():
        raise DataError(f"the file {label} is not here any more", hint="upload it again")
    arrays = read_npz(path)
    with contextlib.suppress(OSError):
        os.utime(path)
    shape = tuple(int(size) for size in arrays["shape"])
    values = arrays["values"].astype(np.float64)
    return CoordinateTensor(arrays["coords"].astype(np.int64), values, shape, label)


def make_room(wanted: int) -> None:
    """Remove what was not used for longest until so many bytes more fit."""
    held = []
    for path in (*folder().glob("*.npz"), *folder().glob(f"*{SUFFIX}")):
        with contextlib.suppress(OSError):
            status = path.stat()
            held.append((status.st_mtime, status.st_size, path))
    total = wanted + sum(size for _, size, _ in held)
    for _, size, path in sorted(held):
        if total <= MOST_BYTES:
            return
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size


def fits(upload: Upload, loaded: Loaded) -> bool:
    """Return whether the program has the tensor, as an input of that shape."""
    program = loaded.model.program
    if upload.tensor not in program.given:
        return False
    return shape_of(upload.key, upload.label) == program.tensor(upload.tensor).shape


@lru_cache(maxsize=256)
def shape_of(key: str, label: str) -> tuple[int, ...]:
    """The shape of a tensor that is kept."""
    return get(key, label).shape


def with_files(loaded: Loaded, uploads: Iterable[Upload]) -> Loaded:
    """Data with what came in files in their place; what does not fit is left out.

    Raises
    ------
    DataError
        If a file is not there any more, or its values do not fit float32.
    """
    used = [upload for upload in uploads if fits(upload, loaded)]
    if not used:
        return loaded
    program = loaded.model.program
    given = {u.tensor: get(u.key, u.label).store(program.tensor(u.tensor)) for u in used}
    told = ", ".join(f"{u.tensor} from {u.label}" for u in used)
    return replace(loaded, data={**loaded.data, **given}, label=f"{loaded.label}, {told}")


def bound(uploads: tuple[Upload, ...], new: Iterable[Upload]) -> tuple[Upload, ...]:
    """The same uploads with others in place of those of the same tensors."""
    added = {upload.tensor: upload for upload in new}
    return (*(u for u in uploads if u.tensor not in added), *added.values())


def _path(key: str) -> Path:
    return folder() / f"{key}.npz"
