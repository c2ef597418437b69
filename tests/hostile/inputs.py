"""Command lines that mean harm, with the files they name."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from tests.hostile import files, texts

PATHS: tuple[tuple[str, ...], ...] = (
    ("simulate", "{}"),
    ("compile", "{}"),
    ("estimate", "prog.loom", "--schedule", "{}"),
    ("simulate", "prog.loom", "--tensors", "{}"),
    ("simulate", "prog.loom", "--tensors", "A={}", "--tensors", "x=random"),
    ("simulate", "prog.loom", "--machine", "{}"),
    ("estimate", "--model", "gcn", "--data", "{}"),
    ("estimate", "--model", "gcn", "--data", "cora_ml", "--data-dir", "{}"),
    ("simulate", "--graph", "{}", "--tensors", "good.npz"),
    ("simulate", "--sam", "{}", "--tensors", "good.npz"),
    ("simulate", "--sam", "good.gv", "--tensors", "{}"),
    ("simulate", "--tortilla", "{}"),
    ("simulate", "--tortilla", "good.bin", "--tensors", "{}"),
    ("conform", "{}"),
    ("machine", "{}"),
    ("compare", "{}"),
    ("compile", "prog.loom", "--export", "json", "--output", "{}/made"),
    ("compile", "--model", "spmv", "--export", "tortilla", "--output", "{}"),
    ("simulate", "prog.loom", "--trace-out", "{}"),
)
"""Every option that takes a path; ``{}`` is the path."""
WRITERS = PATHS[-3:]
GRAPHS, TENSOR, ARCHIVE = PATHS[6], PATHS[4], PATHS[3]
READERS = {
    ".json": (PATHS[8], PATHS[13]),
    ".toml": (PATHS[5], PATHS[14]),
    ".gv": (PATHS[9],),
    ".mlir": (PATHS[0], PATHS[1], PATHS[15]),
    ".bin": (PATHS[11],),
    ".npz": (PATHS[3], PATHS[4], PATHS[6], PATHS[10]),
    ".loom": (PATHS[0], PATHS[15]),
    ".sched": (PATHS[2],),
}
"""Which of them read a format."""


@dataclass(frozen=True)
class Input:
    """One command line and what it is called."""

    name: str
    words: list[str]


def written(folder: Path, seed: int = 15, mutants: int = 40) -> list[Input]:
    """All inputs, their files written into an empty folder."""
    rng = random.Random(seed)
    (folder / "prog.loom").write_text(files.PROGRAM)
    sample = files.CONFORMANCE / files.SAMPLES[1]
    (folder / "good.gv").write_bytes(sample.read_bytes())
    (folder / "good.npz").write_bytes((files.CONFORMANCE / files.SAMPLES[2]).read_bytes())
    (folder / "good.bin").write_bytes((files.CONFORMANCE / files.SAMPLES[4]).read_bytes())
    found: list[Input] = []

    def add(name: str, *words: str) -> None:
        found.append(Input(name, [*words]))

    def read(path: str, way: tuple[str, ...]) -> None:
        add(f"{_short(path)} as {' '.join(way)}", *(word.replace("{}", path) for word in way))

    names = files.not_files(folder)
    for number, way in enumerate(PATHS):  # each option meets some names, each name some options
        for name in ["pipe", "zero", *rng.sample(names, 2), names[number % len(names)]]:
            if way not in WRITERS or not name.startswith("/"):  # no device is put at risk
                read(name, way)
    for name in files.archives(folder):
        read(name, rng.choice((ARCHIVE, TENSOR, GRAPHS)))
    for name in files.matrices(folder):
        read(name, GRAPHS if rng.random() < 0.3 else TENSOR)
    for name in files.graph_folders(folder):
        read(name, GRAPHS)
    for name in files.documents(folder):
        for way in READERS[Path(name).suffix]:
            read(name, way)
    for name, text in texts.PROGRAMS.items():
        (folder / f"{name}.loom").write_text(text, encoding="utf-8", newline="")
        command = rng.choice(("simulate", "estimate", "compile"))
        words = ["compile", "--orders", "first"] if name in texts.LARGE else [command]
        add(f"program {name}", *words, f"{name}.loom")
    for name, text in texts.SCHEDULES.items():
        (folder / f"{name}.sched").write_text(text, encoding="utf-8")
        command = rng.choice(("simulate", "estimate", "compile"))
        add(f"schedule {name}", command, "prog.loom", "--schedule", f"{name}.sched")
    for number, words in enumerate(texts.WORDS):
        add(f"words {number}: {_short(' '.join(words))}", *words)
    for number in range(mutants):
        path = files.CONFORMANCE / files.SAMPLES[number % len(files.SAMPLES)]
        name = f"damaged-{number}{path.suffix}"
        (folder / name).write_bytes(files.damaged(path.read_bytes(), rng))
        read(name, rng.choice(READERS[path.suffix]))
    return found


def _short(text: str) -> str:
    shown = text if len(text) <= 40 else f"{text[:30]}…{len(text)}"
    return shown.encode("unicode_escape").decode()
