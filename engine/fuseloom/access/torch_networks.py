"""Networks whose layers are mapped: their shapes as published, with random weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuseloom.errors import ProgramError


@dataclass(frozen=True)
class Network:
    """A module and inputs for it.

    Attributes
    ----------
    name, text : str
    build : callable
        Gives the module and its inputs, by PyTorch's random numbers.
    """

    name: str
    text: str
    build: Callable[[], tuple[Any, Sequence[Any]]]

    def make(self, seed: int = 0) -> tuple[Any, Sequence[Any]]:
        """The module, with random weights, and its inputs.

        Parameters
        ----------
        seed : int
            Of the random numbers; those of the caller stay as they are.

        Examples
        --------
        >>> module, inputs = network("lenet").make()
        >>> tuple(module(*inputs).shape)
        (1, 10)
        """
        import torch

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return self.build()


def network(name: str) -> Network:
    """The network of a name.

    Raises
    ------
    ProgramError
        If there is none, or PyTorch is not installed.

    Examples
    --------
    >>> network("resnet18").text
    'ResNet-18 on an image of 224×224'
    """
    if name not in NETWORKS:
        raise ProgramError(f"{name[:40]} is no network", hint=f"there are {', '.join(NETWORKS)}")
    try:
        import torch  # noqa: F401 (only whether it is there)
    except ImportError:
        raise ProgramError(
            "networks are modules of PyTorch, which is not installed",
            hint="pip install 'fuseloom[torch]'",
        ) from None
    return NETWORKS[name]


def _image(*extents: int) -> Sequence[Any]:
    import torch

    return [torch.randn(*extents)]


def _resnet18() -> tuple[Any, Sequence[Any]]:
    from torch import nn

    class ResidualBlock(nn.Module):  # type: ignore[misc]
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs),
                nn.ReLU(), nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
                nn.BatchNorm2d(outputs),
            )  # fmt: skip
            self.shortcut: nn.Module = nn.Identity()
            if stride != 1 or inputs != outputs:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
                )

        def forward(self, x: Any) -> Any:
            return (self.body(x) + self.shortcut(x)).relu()

    parts: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]  # fmt: skip
    channels = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        parts += [ResidualBlock(channels, outputs, stride), ResidualBlock(outputs, outputs, 1)]
        channels = outputs
    parts += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)]
    return nn.Sequential(*parts).eval(), _image(1, 3, 224, 224)


def _mobilenet_v2() -> tuple[Any, Sequence[Any]]:
    from torch import nn

    def convolution(inputs: int, outputs: int, taps: int, stride: int, groups: int) -> list[Any]:
        layer = nn.Conv2d(inputs, outputs, taps, stride, taps // 2, groups=groups, bias=False)
        return [layer, nn.BatchNorm2d(outputs)]

    class Inverted(nn.Module):  # type: ignore[misc]
        def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
            super().__init__()
            hidden = inputs * expansion
            parts: list[nn.Module] = []
            if expansion != 1:
                parts += [*convolution(inputs, hidden, 1, 1, 1), nn.ReLU6()]
            parts += [*convolution(hidden, hidden, 3, stride, hidden), nn.ReLU6()]
            parts += convolution(hidden, outputs, 1, 1, 1)
            self.body = nn.Sequential(*parts)
            self.residual = stride == 1 and inputs == outputs

        def forward(self, x: Any) -> Any:
            return x + self.body(x) if self.residual else self.body(x)

    parts: list[nn.Module] = [*convolution(3, 32, 3, 2, 1), nn.ReLU6()]
    channels = 32
    for expansion, outputs, repeats, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
        (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for repeat in range(repeats):
            parts.append(Inverted(channels, outputs, stride if repeat == 0 else 1, expansion))
            channels = outputs
    parts += [*convolution(320, 1280, 1, 1, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    parts.append(nn.Linear(1280, 1000))
    return nn.Sequential(*parts).eval(), _image(1, 3, 224, 224)


def _lenet() -> tuple[Any, Sequence[Any]]:
    from torch import nn

    module = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
        nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    return module.eval(), _image(1, 1, 28, 28)


def _transformer(tokens: int, width: int, heads: int) -> Any:
    """An encoder block: attention and two dense layers, each added to its input."""
    import torch
    from torch import nn

    class EncoderBlock(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.projections = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
            self.output = nn.Linear(width, width)
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.dense = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
            )

        def forward(self, x: Any) -> Any:
            normal = self.first(x)
            q, k, v = (
                projection(normal).reshape(-1, tokens, heads, width // heads).transpose(1, 2)
                for projection in self.projections
            )
            weights = torch.matmul(q, k.transpose(-1, -2)) / (width // heads) ** 0.5
            mixed = torch.matmul(torch.softmax(weights, -1), v).transpose(1, 2)
            x = x + self.output(mixed.reshape(-1, tokens, width))
            return x + self.dense(self.second(x))

    return EncoderBlock()


def _vit() -> tuple[Any, Sequence[Any]]:
    from torch import nn

    class Patches(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.cut = nn.Conv2d(3, 192, 16, 16)

        def forward(self, image: Any) -> Any:
            return self.cut(image).flatten(2).transpose(1, 2)

    module = nn.Sequential(Patches(), _transformer(196, 192, 3), nn.Linear(192, 1000))
    return module.eval(), _image(1, 3, 224, 224)


def _bert() -> tuple[Any, Sequence[Any]]:
    return _transformer(128, 768, 12).eval(), _image(1, 128, 768)


NETWORKS: Mapping[str, Network] = {
    network.name: network
    for network in (
        Network("lenet", "LeNet on an image of 28×28", _lenet),
        Network("resnet18", "ResNet-18 on an image of 224×224", _resnet18),
        Network("mobilenet-v2", "MobileNetV2 on an image of 224×224", _mobilenet_v2),
        Network("vit", "one block of ViT-Tiny with its patches, 224×224", _vit),
        Network("bert", "one block of BERT-Base on 128 tokens", _bert),
    )
}
"""By name."""
