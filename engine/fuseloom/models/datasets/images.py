"""Images for the autoencoder: handwritten digits that scikit-learn ships."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.wording import counted

IMAGES, PIXELS = 1_797, 64


def digits(count: int = 32, seed: int = 0) -> npt.NDArray[np.float32]:
    """Some of 1,797 images of 8x8 pixels, drawn without replacement.

    About half the pixels are 0, the others up to 1.

    Source: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine
    Learning Repository, 1998, as shipped with scikit-learn.

    Returns
    -------
    (count, 64) array of float32

    Raises
    ------
    DataError
        More images than there are, or scikit-learn is not installed.
    """
    if not 1 <= count <= IMAGES:
        raise DataError(f"{counted(count, 'image')}", hint=f"1 to {IMAGES:,} are there")
    try:
        loaded = import_module("sklearn.datasets").load_digits()
    except ImportError:
        raise DataError(
            "the digits come with scikit-learn, which is not installed",
            hint="pip install 'fuseloom[data]'",
        ) from None
    chosen = np.random.default_rng(seed).choice(IMAGES, count, replace=False)
    return np.asarray(loaded.data[chosen] / 16.0, dtype=np.float32)
