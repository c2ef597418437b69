"""Triton in a process of its own: runs kernels by its interpreter, or compiles them for a GPU.

It reads a folder that :mod:`~fuseloom.stitch.gpu.triton_check` has written, with the module of
kernels, what is asked for, and arrays, and writes its answers there.  Triton decides when it is
imported if it interprets, and a fault of its compiler may end the process.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

SOURCE, ASKED, ANSWER = "kernels.py", "asked.json", "answer.json"
"""Files of the folder."""


def load_kernels(path: Path) -> ModuleType:
    """Import a module of kernels from its file."""
    spec = importlib.util.spec_from_file_location("fused_kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run_kernels(folder: Path) -> dict[str, Any]:
    """Run each kernel on the arrays of its file, and write what it returns to another.

    Arrays whose type PyTorch has, and NumPy has not, are in files as floats.
    """
    import torch

    module = load_kernels(folder / SOURCE)
    failed: dict[str, str] = {}
    for name in json.loads((folder / ASKED).read_text("utf-8"))["kernels"]:
        pointers = list(module.LAUNCHES[name]["signature"].values())
        with np.load(folder / f"{name}.in.npz") as file:
            given = [torch.from_numpy(file[f"arr_{number}"]) for number in range(len(file.files))]
        given = [
            one.to(torch.bfloat16) if kind == "*bf16" else one
            for one, kind in zip(given, pointers, strict=False)
        ]
        try:
            made = getattr(module, f"run_{name}")(*given, device="cpu")
        except Exception as problem:  # whatever Triton's interpreter raises
            failed[name] = f"{type(problem).__name__}: {problem}"
            continue
        arrays = [one.float() if one.dtype == torch.bfloat16 else one for one in made]
        np.savez(folder / f"{name}.out.npz", *(one.numpy() for one in arrays))
    return {"failed": failed}


def compile_kernels(folder: Path) -> dict[str, Any]:
    """Compile each kernel to PTX and machine code, and give what the assembler says of it."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    module = load_kernels(folder / SOURCE)
    asked = json.loads((folder / ASKED).read_text("utf-8"))
    made, failed = {}, {}
    for name in asked["kernels"]:
        launch = module.LAUNCHES[name]
        aligned = {(place,): [["tt.divisibility", 16]] for place in range(len(launch["signature"]))}
        source = ASTSource(getattr(module, name), launch["signature"], {}, aligned)
        options = {"num_warps": launch["warps"], "num_stages": 1, "enable_fp_fusion": True}
        for capability in asked["capabilities"]:
            key = f"{name}.sm_{capability}"
            try:
                found = compile(source, target=GPUTarget("cuda", capability, 32), options=options)
                (folder / f"{key}.ptx").write_text(found.asm["ptx"], "utf-8")
                used = assembled(folder / f"{key}.ptx", capability)
            except Exception as problem:  # whatever Triton's compiler raises
                failed[key] = f"{type(problem).__name__}: {problem}"
                continue
            made[key] = {"shared": found.metadata.shared, **used}
    return {"compiled": made, "failed": failed}


def assembled(path: Path, capability: int) -> dict[str, int]:
    """Assemble PTX, and return the registers of a thread, and bytes that it spills."""
    from triton.backends.nvidia.compiler import get_ptxas

    text = path.read_text("utf-8")
    target = re.search(r"^\.target\s+(\w+)", text, re.MULTILINE)
    assert target is not None
    command = [
        get_ptxas(capability).path, "-v", f"-arch={target[1]}", str(path), "-o",
        str(path.with_suffix(".cubin")),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    words = {
        "registers": r"Used (\d+) registers", "spilled": r"(\d+) bytes spill stores",
    }  # fmt: skip
    numbers = {key: re.search(word, done.stderr) for key, word in words.items()}
    return {key: int(one[1]) if one else 0 for key, one in numbers.items()}


def main(folder: Path) -> None:
    """Do what is asked for in a folder."""
    asked = json.loads((folder / ASKED).read_text("utf-8"))
    answer = compile_kernels(folder) if "capabilities" in asked else run_kernels(folder)
    (folder / ANSWER).write_text(json.dumps(answer), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
