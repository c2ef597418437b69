"""Models for the deep fusion of dense graphs: HLO texts, and what JAX computes of them.

``python -m benchmarks.stitch_examples [--only NAME] [--cases]``

Needs the extra ``stitch``.  Each program below is lowered for inputs of its shapes, and its text is
written to ``engine/fuseloom/stitch/examples``.  What JAX computes for the inputs of
:func:`fuseloom.stitch.examples.models.example_inputs` is written to
``tests/stitch/meaning/expected.npz``: of each result its sum, its norm and the elements at some
places.  With ``--cases`` the operations of ``tests/stitch/meaning/cases`` are computed instead,
each by itself, and their values are written to ``tests/stitch/meaning/case_values.npz``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "engine" / "fuseloom" / "stitch" / "examples"
TESTS = ROOT / "tests" / "stitch" / "meaning"
SEED = 1
PLACES = 48
"""Elements of each result that are kept."""
RATE = 0.1


def programs() -> Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions of JAX and the shapes of their arguments, by name."""
    import jax
    import jax.numpy as jnp
    from jax import lax, nn

    def shape(*dims: int, dtype: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(dims, dtype)

    def normalized(x: Any, scale: Any, offset: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = jnp.square(x - mean).mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-6) * scale + offset

    def trained(loss: Callable[..., Any], weights: Any, *data: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(weights, *data)
        return value, jax.tree.map(lambda w, g: w - RATE * g, weights, slopes)

    def cross_entropy(scores: Any, wanted: Any) -> Any:
        return -(nn.softmax(wanted) * nn.log_softmax(scores)).sum(-1).mean()

    def logistic_regression(weights: Any, bias: Any, images: Any, labels: Any) -> Any:
        def loss(model: Any, images: Any, labels: Any) -> Any:
            w, b = model
            return cross_entropy(images @ w + b, labels) + 1e-4 * jnp.square(w).sum()

        return trained(loss, (weights, bias), images, labels)

    def word2vec(inner: Any, outer: Any, center: Any, context: Any, negatives: Any) -> Any:
        def loss(model: Any) -> Any:
            words, others = model
            hidden = words[center]
            right = (hidden * others[context]).sum(-1)
            wrong = jnp.einsum("bd,bkd->bk", hidden, others[negatives])
            return -(nn.log_sigmoid(right) + nn.log_sigmoid(-wrong).sum(-1)).mean()

        return trained(loss, (inner, outer))

    def cell(x: Any, state: Any, weights: Any, bias: Any) -> Any:
        hidden, memory = state
        gates = jnp.concatenate([x, hidden], -1) @ weights + bias
        entry, forget, update, out = jnp.split(gates, 4, -1)
        memory = nn.sigmoid(forget + 1) * memory + nn.sigmoid(entry) * jnp.tanh(update)
        return nn.sigmoid(out) * jnp.tanh(memory), memory

    def zeros(rows: int, width: int) -> Any:
        return jnp.zeros((rows, width)), jnp.zeros((rows, width))

    def rnn(weights: Any, bias: Any, dense: Any, images: Any, labels: Any) -> Any:
        def loss(model: Any) -> Any:
            weights, bias, dense = model
            state = zeros(images.shape[0], dense.shape[0])
            for step in range(images.shape[1]):
                state = cell(images[:, step], state, weights, bias)
            return cross_entropy(state[0] @ dense, labels)

        return trained(loss, (weights, bias, dense))

    def birnn(forth: Any, back: Any, dense: Any, images: Any, labels: Any) -> Any:
        def loss(model: Any) -> Any:
            forth, back, dense = model
            states = [zeros(images.shape[0], dense.shape[0] // 2)] * 2
            for step in range(images.shape[1]):
                states = [
                    cell(images[:, step], states[0], forth, 0.0),
                    cell(images[:, -1 - step], states[1], back, 0.0),
                ]
            both = jnp.concatenate([state[0] for state in states], -1)
            return cross_entropy(both @ dense, labels)

        return trained(loss, (forth, back, dense))

    def attended(x: Any, memory: Any, weights: Any, out: Any, heads: int, mask: Any = None) -> Any:
        def split(y: Any, w: Any) -> Any:
            y = y @ w
            return y.reshape(*y.shape[:2], heads, -1).transpose(0, 2, 1, 3)

        q, k, v = split(x, weights[0]), split(memory, weights[1]), split(memory, weights[2])
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = jnp.where(mask, scores, -1e9)
        mixed = jnp.einsum("bhqk,bhkd->bhqd", nn.softmax(scores), v)
        return mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ out

    def translation(
        words: Any, attention: Any, outs: Any, first: Any, second: Any, source: Any, target: Any
    ) -> Any:
        width = words.shape[1]
        ones, none = jnp.ones(width), jnp.zeros(width)
        attention, first, second = attention / 5, first / 5, second / 8

        def forward(x: Any, k: int) -> Any:
            return nn.gelu(normalized(x, ones, none) @ first[k]) @ second[k]

        x = words[source] * np.sqrt(width)
        x = x + attended(normalized(x, ones, none), x, attention[0], outs[0] / 5, 4)
        x = x + forward(x, 0)
        memory = normalized(x, ones, none)
        y = words[target] * np.sqrt(width)
        steps = jnp.arange(target.shape[1])
        mask = steps[:, None] >= steps[None, :]
        z = normalized(y, ones, none)
        y = y + attended(z, z, attention[1], outs[1] / 5, 4, mask)
        y = y + attended(normalized(y, ones, none), memory, attention[2], outs[2] / 5, 4)
        y = y + forward(y, 1)
        return nn.log_softmax(normalized(y, ones, none) @ words.T / 8)

    def speech(spectrogram: Any, first: Any, second: Any, forth: Any, back: Any, dense: Any) -> Any:
        x = (spectrogram - spectrogram.mean((1, 2), keepdims=True))[..., None]
        for kernel in (first, second):
            x = lax.conv_general_dilated(
                x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jnp.clip(x, 0, 20)
        batch, times = x.shape[:2]
        steps = x.reshape(batch, times, -1).transpose(1, 0, 2) / 8
        hidden = dense.shape[0] // 2

        def step(weights: Any) -> Callable[..., Any]:
            def advance(state: Any, row: Any) -> Any:
                state = cell(row, state, weights, 0.0)
                return state, state[0]

            return advance

        start = zeros(batch, hidden)
        _, ahead = lax.scan(step(forth / 8), start, steps)
        _, behind = lax.scan(step(back / 8), start, steps, reverse=True)
        both = jnp.concatenate([ahead, behind], -1).transpose(1, 0, 2)
        return nn.log_softmax(both @ dense), both.max(1), both.mean(1)

    def attention(scores: Any, values: Any) -> Any:
        shifted = jnp.exp(scores - scores.max(-1, keepdims=True))
        return jnp.matmul(shifted / shifted.sum(-1, keepdims=True), values)

    def residual_block(model: Any, images: Any, labels: Any) -> Any:
        def convolved(x: Any, kernel: Any, stride: int) -> Any:
            x = lax.conv_general_dilated(
                x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
            return (x - mean) * lax.rsqrt(variance + 1e-5)

        def loss(model: Any) -> Any:
            stem, first, second, skip, scale, dense = model
            x = nn.relu(convolved(images, stem, 1))
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
            y = nn.relu(convolved(x, first, 2))
            y = convolved(y, second, 1) * scale
            x = nn.relu(y + convolved(x, skip, 2))
            return cross_entropy(x.mean((1, 2)) @ dense, labels)

        return trained(loss, model)

    words = shape(500, 32)
    integers = jnp.int32
    return {
        "logistic_regression": (
            logistic_regression, (shape(64, 10), shape(10), shape(32, 64), shape(32, 10)),
        ),
        "word2vec": (
            word2vec,
            (
                words, words, shape(64, dtype=integers), shape(64, dtype=integers),
                shape(64, 5, dtype=integers),
            ),
        ),
        "rnn": (
            rnn, (shape(40, 128), shape(128), shape(32, 10), shape(16, 8, 8), shape(16, 10)),
        ),
        "birnn": (
            birnn, (shape(24, 64), shape(24, 64), shape(32, 10), shape(16, 6, 8), shape(16, 10)),
        ),
        "translation": (
            translation,
            (
                shape(64, 32), shape(3, 3, 32, 32), shape(3, 32, 32), shape(2, 32, 64),
                shape(2, 64, 32), shape(2, 16, dtype=integers), shape(2, 12, dtype=integers),
            ),
        ),
        "speech": (
            speech,
            (
                shape(2, 40, 32), shape(5, 5, 1, 8), shape(3, 3, 8, 8), shape(96, 128),
                shape(96, 128), shape(64, 29),
            ),
        ),
        "attention": (attention, (shape(8, 64, 64, 64), shape(8, 64, 64, 64))),
        "residual_block": (
            residual_block,
            (
                (
                    shape(3, 3, 3, 8), shape(3, 3, 8, 16), shape(3, 3, 16, 16),
                    shape(1, 1, 8, 16), shape(16), shape(16, 10),
                ),
                shape(4, 16, 16, 3), shape(4, 10),
            ),
        ),
    }  # fmt: skip


def text_of(lowered: Any) -> str:
    """The module as text, with all elements of constants and without metadata."""
    from jaxlib import _hlo

    options = _hlo.HloPrintOptions.short_parsable()
    options.print_large_constants = True
    options.print_metadata = False
    options.print_percent = False
    return str(lowered.compiler_ir("hlo").get_hlo_module().to_string(options))


def kept(name: str, values: list[Any]) -> dict[str, npt.NDArray[Any]]:
    """Of each result its sum, its norm, and some of its elements."""
    made = {}
    for k, value in enumerate(values):
        flat = np.asarray(value, np.float64).reshape(-1)
        places = np.random.default_rng(k).integers(0, flat.size, min(PLACES, flat.size))
        made[f"{name}/{k}"] = np.array([flat.sum(), np.linalg.norm(flat), *flat[places]])
    return made


def write_models(only: str | None) -> None:
    """Write texts, and what JAX computes."""
    import jax

    made: dict[str, npt.NDArray[Any]] = {}
    path = TESTS / "expected.npz"
    if path.is_file():
        made |= np.load(path)
    for name, (function, shapes) in programs().items():
        if only not in (None, name):
            continue
        lowered = jax.jit(function, keep_unused=True).lower(*shapes)
        text = text_of(lowered)
        (EXAMPLES / f"{name}.hlo").write_text(text.rstrip() + "\n", encoding="utf-8")
        from fuseloom.stitch.examples.models import example_inputs

        inputs = list(example_inputs(name, SEED).values())
        leaves, tree = jax.tree.flatten(shapes)
        assert [leaf.shape for leaf in leaves] == [value.shape for value in inputs]
        results = jax.tree.leaves(lowered.compile()(*jax.tree.unflatten(tree, inputs)))
        made = {key: value for key, value in made.items() if key.partition("/")[0] != name}
        made |= kept(name, results)
        print(f"{name}: {len(text):,} characters, {text.count(' = '):,} operations")
    np.savez_compressed(path, **made)


def write_cases(only: str | None) -> None:
    """Write what XLA computes of single operations."""
    import jax
    from jax._src.lib import _jax, xla_client
    from jaxlib import _hlo

    from tests.stitch.meaning.cases import CASES

    made: dict[str, npt.NDArray[Any]] = {}
    client = jax.devices()[0].client
    devices = _jax.DeviceList(tuple(client.local_devices()[:1]))
    jax.config.update("jax_enable_x64", True)
    for name, case in CASES.items():
        if only not in (None, name):
            continue
        module = _hlo.hlo_module_from_text(case.text)
        computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
        program = _jax.mlir.xla_computation_to_mlir_module(computation)
        try:
            run = client.compile_and_load(program, devices, xla_client.CompileOptions())
            results = run.execute([jax.device_put(value) for value in case.jax_inputs()])
        except Exception as error:  # of many kinds, and the next case does not depend on it
            print(f"{name}: {str(error).splitlines()[0][:200]}")
            continue
        for k, value in enumerate(results):
            array = np.asarray(value)
            made[f"{name}/{k}"] = (
                array.astype(np.float32) if array.dtype.name == "bfloat16" else array
            )
    if only is None:
        np.savez_compressed(TESTS / "case_values.npz", **made)
    print(f"{len(made)} values of {len(CASES)} cases")


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only")
    parser.add_argument("--cases", action="store_true")
    arguments = parser.parse_args()
    if arguments.cases:
        write_cases(arguments.only)
    else:
        write_models(arguments.only)


if __name__ == "__main__":
    main()
