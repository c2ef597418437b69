"""Calls that no annotation can describe, each with its reason."""

from __future__ import annotations

from fuseloom.calls.library.library_call import RefusedCall

ALL_OF_IT = "every element of the output needs all of the input"
ALL_BEFORE = "an element of the output needs the result of the one before it"
SIZE = "the size of the output depends on data"
TWO = "it has two outputs or more"
BORDERS = "elements at the borders are computed by a rule of their own, and a part has borders, too"
RANDOM = "two runs on the same data differ"
IN_PLACE = "it writes into its input"

_NAMES = {
    ALL_OF_IT: (
        "fft", "ifft", "rfft", "fft2", "dct", "sort", "argsort", "partition", "median of a vector",
        "quantile", "histogram", "ranks", "inverse", "solve", "lstsq", "determinant", "cholesky",
        "matrix power", "matrix exponential", "standardised vector", "distance transform",
        "connected components", "histogram equalisation", "batch norm in training",
    ),
    ALL_BEFORE: (
        "cumsum", "cumprod", "running maximum", "linear recurrence", "recursive filter",
        "triangular solve", "LSTM", "run-length positions",
    ),
    SIZE: ("nonzero", "unique", "compress", "filter of a list", "set union", "split of a text"),
    TWO: ("modf", "frexp", "divmod", "qr", "svd", "eigh", "top values with their places"),
    BORDERS: (
        "gradient", "convolution of the same size", "correlation with reflected borders",
        "gaussian filter with reflected borders", "padding", "detrending of segments",
    ),
    RANDOM: ("dropout", "shuffle", "random normal", "bootstrap sample"),
    IN_PLACE: ("fill diagonal", "in-place sort", "in-place clip", "update of running statistics"),
}  # fmt: skip

REFUSED = tuple(RefusedCall(name, reason) for reason, names in _NAMES.items() for name in names)
"""Calls that cannot be computed part by part, with the reasons."""
