"""The page about benchmarks: what each measures, its command, and what has been recorded of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
RECORDED: dict[str, tuple[tuple[str, str], ...]] = {
    "access_targets": (
        ("access.md", "product, 128 | 16 × 16 | 0.20 s | 1,400 nodes"),
        (
            "access.md",
            "CP-SAT finds nothing cheaper in their e-graphs than the greedy extraction, and proves "
            "that in less than 0.2 s.",
        ),
        (
            "access.md",
            "64 to 86 times as fast where the blocks are 16 × 16.",
        ),
    ),
    "fused_calls": (
        ("calls.md", "softmax | 2048 × 2048 | 1.47, 0.95 | 2.67, 1.60"),
        ("calls.md", "unsharp mask | 2048 × 2048 | 2.54, 1.57 | 3.39, 1.97"),
    ),
    "codesign": (("codesign.md", "25,233 | 155 ns | 64 | 25,230 | 6.5 %"),),
    "five_ways": (
        ("five-ways.md", "contraction | fused | 1 | 64 | 1.00 | 9,248"),
        ("five-ways.md", "dataflow | full | 1 | 0 | 4.54 | 42,016 | 20,701"),
    ),
    "hardware": (
        ("rtl.md", "GCN, Karate, fused fully | 76 | 77,757 77,757 | 0.052 | 0.0128 | 0.55 | 11"),
    ),
    "stitch_tuning": (
        ("stitch.md", "the choice was within 15 % of the best in 13 of 15"),
        ("stitch.md", "97 % of the lookups for `birnn` are known after `rnn`."),
    ),
    "stitch_chains": (
        ("stitch.md", "bias, GELU (erf), residual, layer norm | 3.50 | 2.87"),
        ("stitch.md", "softmax, mask, scale, 8 × 32 × 512 × 512 | 2.37 | 1.01"),
    ),
    "stitch_counts": (
        ("stitch.md", "RNN | 22 (26) | 73 (26) | 128 (9)"),
        ("stitch.md", "translation | 27 (17) | 69 (23) | 99"),
    ),
    "call_experiments": (
        ("calls.md", "1024², 3 → 16 channels | 3.46, 2.87 | 2.28"),
        ("calls.md", "0.24 ms for each call, R² 0.999 over 2 to 64"),
    ),
    "baselines": (
        (
            "exploration.md",
            "It was never worse in 50 problems; it beat random search in 48 of them and TPE in 37.",
        ),
    ),
    "beside_scipy": (
        (
            "simulator.md",
            "A simulation of i-k-j costs 3.5 to 14 times SciPy's product of the same operands",
        ),
    ),
    "estimate": (
        (
            "estimate.md",
            "exact estimates rank every space as the simulator does (Spearman 1.000, the schedule "
            "chosen is the best one), the largest error of a region is 1.9 %",
        ),
    ),
    "first_run": (("simulator.md", "fused GCN 14 s, all kernels 37 s on two cores"),),
    "graph_view": (
        (
            "workbench.md",
            "Panning 771 nodes on two busy cores without a graphics card: 36 to 60 frames per "
            "second.",
        ),
    ),
    "memory": (
        (
            "simulator.md",
            "Sequential reads of HBM2 reach 93 % of its 256 GB/s.",
        ),
    ),
    "networks": (
        (
            "networks.md",
            "3-index integrals, 5 × 5 He, 1,150 auxiliary functions, 1e-4 | 16 ms | 81 × | 1.5 × "
            "| 2.2 ×",
        ),
    ),
    "ranking": (
        (
            "networks.md",
            "the nest that is chosen takes at most 1.34 times as long as the best of 20 that were "
            "measured, at most 1.3 times on 19",
        ),
    ),
    "observation": (
        ("simulator.md", "Costs 3 to 20 %."),
        ("simulator.md", "Costs 10 to 65 %."),
    ),
    "paint": (("workbench.md", "within 0.11 s (home), 0.67 s (explorer)"),),
    "reports": (("simulator.md", "within 0.13 s, tiles of 512 × 512 included"),),
    "saturation": (
        (
            "access.md",
            "An order that maps a layer mostly takes as many cycles, and at worst 2.69 times as "
            "many",
        ),
    ),
    "sweep": (
        (
            "sweeps.md",
            "10,000 ways to cut and order GCN take 23 s on one core to plan and estimate",
        ),
    ),
    "timeline": (("workbench.md", "a file of 100 million intervals opens in milliseconds"),),
}
"""Figures that other pages have, word by word; a test looks that they still do."""


def benchmarks() -> str:
    """A section for each benchmark, then the modules that they share."""
    found = {path.stem: path for path in sorted((ROOT / "benchmarks").glob("*.py"))}
    alone = [name for name, path in found.items() if "__main__" in path.read_text("utf-8")]
    parts = [_section(name, found[name]) for name in alone]
    shared = [f"* `benchmarks/{n}.py`: {_first(p)}" for n, p in found.items() if n not in alone]
    return "\n" + "\n\n".join(parts) + "\n\n## What they share\n\n" + "\n".join(shared) + "\n"


def _section(name: str, path: Path) -> str:
    said = "\n\n".join([_first(path), *_rest(name, path)])
    lines = [f"## {name}", "", said, "", f"* Command: `{_command(name, path)}`"]
    for page, words in RECORDED.get(name, ()):
        lines.append(f"* Recorded in [{page.removesuffix('.md')}]({page}): {words.rstrip('.')}.")
    if name not in RECORDED:
        lines.append("* No figure is recorded in these pages.")
    return "\n".join(lines)


def _doc(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def _first(path: Path) -> str:
    """Return the subject of a module's measurements: its first sentence, as Markdown."""
    line = _doc(path).partition("\n")[0]
    return _markdown(re.sub(r": ``python.+?``\.$", ".", line))


def _rest(name: str, path: Path) -> list[str]:
    """Return the other paragraphs of a module's docstring, but for its command."""
    parts = _doc(path).split("\n\n")[1:]
    is_command = re.compile(rf"\s*(?:``)?python (?:-m benchmarks\.{name}|benchmarks/{name}\.py)")
    return [_markdown(part.strip()) for part in parts if not is_command.match(part)]


def _markdown(text: str) -> str:
    return re.sub(r":\w+:(?=`)", "", text).replace("``", "`")


def _command(name: str, path: Path) -> str:
    """The command that its docstring gives, with its options."""
    text = " ".join(_doc(path).split())
    found = re.search(
        rf"python (?:-m benchmarks\.{name}|benchmarks/{name}\.py)(?: \[.+?\]| --\w+ \w+)*", text
    )
    made = found[0] if found else f"python -m benchmarks.{name}"
    return made.replace(f"python benchmarks/{name}.py", f"python -m benchmarks.{name}")


def missing() -> list[str]:
    """Recorded figures that their pages do not have any more."""
    lost = []
    for name, figures in RECORDED.items():
        for page, words in figures:
            path = ROOT / "docs" / page
            text = " ".join(path.read_text(encoding="utf-8").split())
            if words not in text:
                lost.append(f"{name}: {page} does not say: {words}")
    return lost
