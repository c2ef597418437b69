"""Plain PyTorch modules of small sizes: a function or module, and the shapes of its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from tests.frontends.torch.families.blocks import (
    BasicBlock,
    Bigram,
    BiLstmTagger,
    Capsules,
    CausalConvolutions,
    ConvNext,
    CrossNetwork,
    Dlrm,
    Experts,
    FactorisationMachine,
    Gated,
    GatedMlp,
    GlobalContext,
    GraphAttention,
    Highway,
    InvertedResidual,
    LeNet,
    LinearAttention,
    LoRA,
    Mixer,
    PatchMerging,
    Rotary,
    SequenceToSequence,
    Shifted,
    SoftExperts,
    SpatialGate,
    SqueezeExcite,
    TopExperts,
    UNet,
    Variational,
    WithAlibi,
)
from tests.frontends.torch.support import Module, normal, positive, sparse

Case = tuple[Callable[[], nn.Module], tuple[Any, ...]]


def of(function: Callable[..., Any]) -> Callable[[], nn.Module]:
    return lambda: Module(function)


CLASSES = torch.tensor([2, 0, 3, 1, 2])
SHARES = torch.softmax(normal(5, 4, seed=3), -1)
BITS = (normal(5, 4, seed=4) > 0).float()
WORDS = torch.tensor([[1, 4, 2, 2], [0, 3, 3, 5]])
X, IMAGE, SERIES = normal(5, 4), normal(1, 2, 6, 6), normal(2, 3, 4)
MASK = torch.tensor([[1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1]], dtype=torch.bool)

LAYERS: dict[str, Case] = {
    "linear": (lambda: nn.Linear(4, 3), (X,)),
    "mlp": (lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)), (X,)),
    "bilinear": (lambda: nn.Bilinear(4, 4, 3), (X, normal(5, 4, seed=1))),
    "lora": (lambda: LoRA(4, 3, 2), (X,)),
    "highway": (lambda: Highway(4), (X,)),
    "glu": (lambda: nn.Sequential(nn.Linear(4, 6), nn.GLU()), (X,)),
    "swiglu": (lambda: Gated(4, F.silu), (X,)),
    "geglu": (lambda: Gated(4, F.gelu), (X,)),
    "prelu": (lambda: nn.Sequential(nn.Linear(4, 4), nn.PReLU(4)), (X,)),
    "leaky relu": (lambda: nn.Sequential(nn.Linear(4, 4), nn.LeakyReLU(0.1)), (X,)),
    "hardswish": (lambda: nn.Sequential(nn.Linear(4, 4), nn.Hardswish()), (X,)),
    "celu": (lambda: nn.Sequential(nn.Linear(4, 4), nn.CELU(0.5)), (X,)),
    "softsign": (lambda: nn.Sequential(nn.Linear(4, 4), nn.Softsign()), (X,)),
    "softmin": (lambda: nn.Sequential(nn.Linear(4, 4), nn.Softmin(-1)), (X,)),
    "tanhshrink": (lambda: nn.Sequential(nn.Linear(4, 4), nn.Tanhshrink()), (X,)),
    "softshrink": (lambda: nn.Sequential(nn.Linear(4, 4), nn.Softshrink(0.2)), (X,)),
    "layer norm": (lambda: nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)), (X,)),
    "rms norm": (lambda: nn.Sequential(nn.Linear(4, 4), nn.RMSNorm(4)), (X,)),
    "batch norm": (lambda: nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)), (X,)),
    "group norm": (lambda: nn.GroupNorm(2, 4), (normal(2, 4, 3),)),
    "instance norm": (lambda: nn.InstanceNorm2d(2, affine=True), (normal(2, 2, 3, 3),)),
    "local response norm": (lambda: nn.LocalResponseNorm(2), (normal(1, 4, 2, 2),)),
    "weight norm": (
        lambda: torch.nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)), (X,)
    ),
    "cosine similarity": (lambda: nn.CosineSimilarity(), (X, normal(5, 4, seed=1))),
    "pairwise distance": (lambda: nn.PairwiseDistance(), (X, normal(5, 4, seed=1))),
    "embedding": (lambda: nn.Embedding(6, 3), (WORDS,)),
    "embedding bag": (lambda: nn.EmbeddingBag(6, 3, mode="mean"), (WORDS,)),
    "sum of embeddings": (lambda: nn.EmbeddingBag(6, 3, mode="sum"), (WORDS,)),
    "bfloat16": (
        lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)).bfloat16(),
        (X.bfloat16(),),
    ),
    "float64": (lambda: nn.Linear(4, 3).double(), (X.double(),)),
}  # fmt: skip

LOSSES: dict[str, Case] = {
    "mse": (lambda: nn.MSELoss(), (X, normal(5, 4, seed=1))),
    "l1": (lambda: nn.L1Loss(), (X, normal(5, 4, seed=1))),
    "smooth l1": (lambda: nn.SmoothL1Loss(), (X, normal(5, 4, seed=1))),
    "huber": (lambda: nn.HuberLoss(delta=0.5), (X, normal(5, 4, seed=1))),
    "cross entropy": (lambda: nn.CrossEntropyLoss(), (X, CLASSES)),
    "smoothed cross entropy": (lambda: nn.CrossEntropyLoss(label_smoothing=0.1), (X, CLASSES)),
    "cross entropy of shares": (lambda: nn.CrossEntropyLoss(), (X, SHARES)),
    "nll": (of(lambda x, y: F.nll_loss(F.log_softmax(x, -1), y)), (X, CLASSES)),
    "bce": (of(lambda x, y: F.binary_cross_entropy(x.sigmoid(), y)), (X, BITS)),
    "bce with logits": (lambda: nn.BCEWithLogitsLoss(), (X, BITS)),
    "kl": (of(lambda x, y: F.kl_div(F.log_softmax(x, -1), y, reduction="batchmean")), (X, SHARES)),
    "hinge": (lambda: nn.HingeEmbeddingLoss(), (X, 2 * BITS - 1)),
    "triplet": (lambda: nn.TripletMarginLoss(), (X, normal(5, 4, seed=1), normal(5, 4, seed=2))),
}

IMAGES: dict[str, Case] = {
    "conv1d": (lambda: nn.Conv1d(3, 4, 3, padding=1), (normal(1, 3, 5),)),
    "conv2d": (lambda: nn.Conv2d(2, 3, 3, padding=1), (IMAGE,)),
    "conv2d strided": (lambda: nn.Conv2d(2, 3, 3, 2, 1), (IMAGE,)),
    "conv2d dilated": (lambda: nn.Conv2d(2, 3, 3, dilation=2), (IMAGE,)),
    "conv2d grouped": (lambda: nn.Conv2d(4, 6, 3, groups=2), (normal(1, 4, 4, 4),)),
    "depthwise": (lambda: nn.Conv2d(2, 2, 3, padding=1, groups=2), (IMAGE,)),
    "conv3d": (lambda: nn.Conv3d(1, 2, 2), (normal(1, 1, 3, 3, 3),)),
    "conv transpose": (lambda: nn.ConvTranspose2d(2, 3, 2, 2), (normal(1, 2, 3, 3),)),
    "max pool": (lambda: nn.MaxPool2d(2), (IMAGE,)),
    "max pool padded": (lambda: nn.MaxPool2d(3, 2, 1), (IMAGE,)),
    "average pool": (lambda: nn.AvgPool2d(2), (IMAGE,)),
    "adaptive average": (lambda: nn.AdaptiveAvgPool2d(1), (IMAGE,)),
    "adaptive average 4": (lambda: nn.AdaptiveAvgPool2d(4), (IMAGE,)),
    "upsample": (lambda: nn.Upsample(scale_factor=2), (normal(1, 2, 3, 3),)),
    "upsample bilinear": (
        lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (normal(1, 2, 3, 3),)
    ),
    "pixel shuffle": (lambda: nn.PixelShuffle(2), (normal(1, 4, 3, 3),)),
    "pad": (lambda: nn.ZeroPad2d(1), (normal(1, 2, 3, 3),)),
    "reflection": (lambda: nn.ReflectionPad2d(1), (normal(1, 2, 3, 3),)),
    "unfold": (lambda: nn.Unfold(2), (normal(1, 2, 3, 3),)),
    "le net": (lambda: LeNet(), (normal(1, 1, 8, 8),)),
    "resnet block": (lambda: BasicBlock(2, 3, 2), (normal(1, 2, 4, 4),)),
    "inverted residual": (lambda: InvertedResidual(2, 2), (normal(1, 2, 4, 4),)),
    "squeeze and excite": (lambda: SqueezeExcite(4, 2), (normal(1, 4, 3, 3),)),
    "spatial attention": (lambda: SpatialGate(), (normal(1, 3, 4, 4),)),
    "convnext block": (lambda: ConvNext(2), (normal(1, 2, 4, 4),)),
    "u-net": (lambda: UNet(), (normal(1, 1, 4, 4),)),
    "global context": (lambda: GlobalContext(4), (normal(1, 4, 3, 3),)),
    "patch merging": (lambda: PatchMerging(2), (normal(1, 4, 4, 2),)),
}  # fmt: skip

SEQUENCES: dict[str, Case] = {
    "lstm": (lambda: nn.LSTM(4, 3, batch_first=True), (SERIES,)),
    "lstm of two layers": (lambda: nn.LSTM(4, 3, 2), (SERIES,)),
    "lstm both ways": (lambda: nn.LSTM(4, 3, bidirectional=True), (SERIES,)),
    "gru": (lambda: nn.GRU(4, 3), (SERIES,)),
    "rnn": (lambda: nn.RNN(4, 3), (SERIES,)),
    "rnn with relu": (lambda: nn.RNN(4, 3, nonlinearity="relu"), (SERIES,)),
    "lstm cell": (lambda: nn.LSTMCell(4, 3), (X,)),
    "gru cell": (lambda: nn.GRUCell(4, 3), (X,)),
    "rnn cell": (lambda: nn.RNNCell(4, 3), (X,)),
    "tagger": (lambda: BiLstmTagger(6, 3, 2), (WORDS[:1],)),
    "causal convolutions": (lambda: CausalConvolutions(2, 3), (normal(1, 2, 6),)),
    "sequence to sequence": (lambda: SequenceToSequence(3, 2), (normal(1, 3, 3),)),
}

ATTENTION: dict[str, Case] = {
    "multihead": (lambda: _Self(nn.MultiheadAttention(4, 2, batch_first=True)), (SERIES,)),
    "encoder": (
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 2
        ),
        (SERIES,),
    ),
    "decoder": (
        lambda: nn.TransformerDecoderLayer(4, 2, 8, 0.0, batch_first=True),
        (SERIES, normal(2, 2, 4)),
    ),
    "transformer": (
        lambda: nn.Transformer(4, 2, 1, 1, 8, 0.0, batch_first=True),
        (normal(1, 3, 4), normal(1, 2, 4)),
    ),
    "grouped queries": (
        of(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)),
        (normal(1, 4, 3, 2), normal(1, 2, 3, 2, seed=1), normal(1, 2, 3, 2, seed=2)),
    ),
    "mask of bits": (
        of(lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m)),
        (normal(2, 4, 3), MASK),
    ),
    "mask of numbers": (
        of(lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m)),
        (normal(2, 4, 3), torch.where(MASK, 0.5, -torch.inf)),
    ),
    "causal": (
        of(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True)), (normal(2, 4, 3),)
    ),
    "alibi": (lambda: WithAlibi(4, 2), (SERIES,)),
    "rotary": (lambda: Rotary(4), (SERIES,)),
    "linear attention": (lambda: LinearAttention(4), (SERIES,)),
    "shifted windows": (lambda: Shifted(4, 2), (normal(1, 4, 4),)),
    "mixer": (lambda: Mixer(3, 4), (SERIES,)),
    "gmlp": (lambda: GatedMlp(3, 4), (SERIES,)),
}  # fmt: skip

OTHERS: dict[str, Case] = {
    "graph attention": (lambda: GraphAttention(4, 3), ((sparse(5, 5) != 0).float(), X)),
    "sparse product": (of(torch.sparse.mm), (sparse(5, 5).to_sparse_csr(), X)),
    "experts with a fixed routing": (lambda: Experts(4, 3, 2), (X, torch.tensor([0, 2, 1, 1, 0]))),
    "soft experts": (lambda: SoftExperts(4, 3), (X,)),
    "experts with a computed routing": (lambda: TopExperts(4, 3), (X,)),
    "factorisation machine": (lambda: FactorisationMachine(4, 2), (X,)),
    "cross network": (lambda: CrossNetwork(4), (X,)),
    "dlrm": (lambda: Dlrm(6, 3), (normal(2, 4), WORDS)),
    "bigram": (lambda: Bigram(6), (WORDS,)),
    "variational": (lambda: Variational(4, 2), (X,)),
    "capsules": (lambda: Capsules(3, 2), (normal(1, 3, 2),)),
    "prototypes": (of(lambda x, y: F.softmax(-torch.cdist(x, y), -1)), (X, normal(3, 4, seed=1))),
    "radial basis": (of(lambda x, y: torch.exp(-(torch.cdist(x, y) ** 2))), (X, normal(3, 4))),
    "cumulative sum": (of(lambda x: x.relu().cumsum(1)), (X,)),
    "trace": (of(lambda x: torch.einsum("bii->b", x.relu())), (normal(2, 3, 3),)),
    "diagonal": (of(lambda x: torch.einsum("bii->bi", x.relu())), (normal(2, 3, 3),)),
    "repeat": (of(lambda x: x.relu().repeat(2, 3)), (X,)),
    "repeat interleave": (of(lambda x: x.relu().repeat_interleave(2, 1)), (X,)),
    "roll": (of(lambda x: x.relu().roll((1, -1), (0, 1))), (X,)),
    "flip": (of(lambda x: x.relu().flip(1)), (X,)),
    "product": (of(lambda x: x.prod(1)), (positive(5, 4),)),
    "gather": (of(lambda x, i: x.relu().gather(1, i)), (X, torch.tensor([[0, 3]] * 5))),
    "wave": (lambda: nn.Sequential(nn.Linear(4, 3), Module(torch.sin)), (X,)),
    "argmax": (of(lambda x: x.relu().argmax(-1)), (X,)),
    "sorted": (of(lambda x: x.relu().sort().values), (X,)),
    "fourier": (of(lambda x: torch.fft.fft(x).real), (X,)),
    "bessel": (of(lambda x: torch.special.i0(x)), (X,)),
}


class _Self(nn.Module):
    """Attention of a sequence to itself."""

    def __init__(self, attention: nn.MultiheadAttention) -> None:
        super().__init__()
        self.attention = attention

    def forward(self, x: Any) -> Any:
        return self.attention(x, x, x)[0]


PLAIN: dict[str, Case] = {**LAYERS, **LOSSES, **IMAGES, **SEQUENCES, **ATTENTION, **OTHERS}
