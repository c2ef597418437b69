"""Real data of sparse tensor networks: integrals of helium lattices, Python's sources, graphs."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.tree import ContractionTree
from fuseloom.models import load_labelled


@dataclass(frozen=True)
class NetworkProblem:
    """A network with data."""

    name: str
    tree: ContractionTree
    data: Mapping[str, Any]


def problem(
    name: str, einsum: str, tree: str, data: Mapping[str, Any], **sizes: int
) -> NetworkProblem:
    """A problem whose operands, coordinates and values, are given in their order."""
    made = binary(from_einsum(einsum, sizes), tree)
    return NetworkProblem(name, made, dict(zip("ABCDEFG", data.values(), strict=False)))


def elements(array: Any, least: float = 0.0) -> tuple[Any, Any]:
    """Coordinates and values of what is larger than a threshold."""
    places = np.argwhere(np.abs(array) > least)
    return places, array[tuple(places.T)]


@dataclass(frozen=True)
class Lattice:
    """Integrals of a square lattice of helium, and local orbitals."""

    integrals: Any  # auxiliary functions x orbitals x orbitals
    occupied: Any  # orbitals x occupied ones
    projected: Any  # orbitals x projected ones
    metric: Any  # auxiliary functions x the same
    near: Any  # auxiliary functions x occupied ones: within a distance of each other


def lattice(side: int, auxiliary: str, distance: float = 4.0, reach: float = 6.0) -> Lattice:
    """Computed by pyscf in the basis 6-311G; distances in Bohr.

    Raises
    ------
    ImportError
        If pyscf is not installed.
    """
    from pyscf import df, gto, lo, scf

    atoms = [("He", (distance * x, distance * y, 0.0)) for x in range(side) for y in range(side)]
    molecule = gto.M(atom=atoms, basis="6-311g", verbose=0, unit="Bohr")
    field = scf.RHF(molecule).run()
    occupied = field.mo_coeff[:, field.mo_occ > 0]
    local = lo.Boys(molecule, occupied).kernel()
    overlap = molecule.intor("int1e_ovlp")
    projected = np.eye(molecule.nao) - occupied @ occupied.T @ overlap
    fitted = df.addons.make_auxmol(molecule, auxiliary)
    integrals = df.incore.aux_e2(molecule, fitted, intor="int3c2e").transpose(2, 0, 1)
    metric = np.linalg.inv(fitted.intor("int2c2e"))
    with molecule.with_common_orig((0, 0, 0)):
        centres = np.einsum("xmn,mi,ni->ix", molecule.intor("int1e_r"), local, local)
    atom = [fitted.bas_atom(shell) for shell in range(fitted.nbas)]
    sizes = np.diff(fitted.ao_loc_nr())
    places = fitted.atom_coords()[np.repeat(atom, sizes)]
    near = np.linalg.norm(places[:, None] - centres[None], axis=2) < reach
    return Lattice(integrals, local, projected, metric, near.astype(float))


def integrals(side: int, auxiliary: str, least: float) -> list[NetworkProblem]:
    """The 3-index networks of the paper, unrestricted and restricted, and its 4-index one."""
    held = lattice(side, auxiliary)
    named = f"{side}x{side} He, {auxiliary}, {least:g}"
    k, m, n = held.integrals.shape
    i, p = held.occupied.shape[1], held.projected.shape[1]
    given = {
        "integrals": elements(held.integrals, least),
        "occupied": elements(held.occupied, least),
        "projected": elements(held.projected, least),
    }
    sizes = {"k": k, "m": m, "n": n, "i": i, "p": p}
    near = {**given, "near": elements(held.near)}
    half = np.einsum("kmn,mi->kin", held.integrals, held.occupied, optimize=True)
    three = np.einsum("kin,np->ipk", half, held.projected, optimize=True)
    four = {
        "left": elements(three, least),
        "metric": elements(held.metric, least),
        "right": elements(three, least),
    }
    wide = {"i": i, "p": p, "k": k, "l": k, "j": i, "q": p}
    return [
        problem(f"3-index, {named}", "kmn,mi,np->ipk", "((A B) C)", given, **sizes),
        problem(
            f"3-index restricted, {named}", "kmn,mi,np,ki->ipk", "(((D B) A) C)", near, **sizes
        ),
        problem(f"4-index, {named}", "ipk,kl,jql->ipjq", "((A B) C)", four, **wide),
    ]


def sources(files: int, tokens: int | None = None) -> tuple[Any, Any, tuple[int, int, int]]:
    """Count how often a token follows another in a file of Python's standard library.

    Coordinates (token, next token, file), counts, and the shape.  Of the tokens, the most frequent
    ones may be kept alone.
    """
    folder = Path(sysconfig.get_paths()["stdlib"])
    found = sorted(p for p in folder.rglob("*.py") if "site-packages" not in p.parts)[:files]
    numbers: dict[str, int] = {}
    rows = []
    for number, path in enumerate(found):
        words = re.findall(r"\w+|[^\w\s]", path.read_text("utf-8", errors="replace"))
        codes = np.array([numbers.setdefault(word, len(numbers)) for word in words])
        if len(codes) > 1:
            rows.append(np.stack([codes[:-1], codes[1:], np.full(len(codes) - 1, number)], axis=1))
    every = np.concatenate(rows)
    size = len(numbers)
    if tokens is not None and tokens < size:
        often = np.argsort(-np.bincount(every[:, 0], minlength=size), kind="stable")[:tokens]
        new = np.full(size, -1)
        new[often] = np.arange(tokens)
        every[:, :2] = new[every[:, :2]]
        every, size = every[(every[:, :2] >= 0).all(axis=1)], tokens
    coords, counts = np.unique(every, axis=0, return_counts=True)
    return coords, counts.astype(float), (size, size, len(found))


def mttkrp(files: int, rank: int, tokens: int | None = None) -> list[NetworkProblem]:
    """The products of a tensor with factors along two of its modes, for each of the three."""
    coords, counts, shape = sources(files, tokens)
    rng = np.random.default_rng(0)
    factors = [rng.normal(size=(size, rank)) for size in shape]
    made = []
    for mode, (einsum, tree) in enumerate(
        [
            ("ijk,jr,kr->ir", "((A C) B)"),
            ("ijk,ir,kr->jr", "((A C) B)"),
            ("ijk,ir,jr->kr", "((A C) B)"),
        ]
    ):
        others = [f for m, f in enumerate(factors) if m != mode]
        data = {"tensor": (coords, counts), "first": others[0], "second": others[1]}
        sizes = dict(zip("ijk", shape, strict=True))
        label = f"MTTKRP mode {mode + 1}, {files} files, r={rank}"
        made.append(problem(label, einsum, tree, data, **sizes, r=rank))
    return made


def ttmc(files: int, first: int, second: int, tokens: int | None = None) -> NetworkProblem:
    """The product of a tensor with matrices along two of its modes."""
    coords, counts, shape = sources(files, tokens)
    rng = np.random.default_rng(0)
    data = {
        "tensor": (coords, counts),
        "second": rng.normal(size=(shape[1], first)),
        "third": rng.normal(size=(shape[2], second)),
    }
    sizes = dict(zip("ijk", shape, strict=True))
    label = f"TTMc, {files} files, r={first}, s={second}"
    return problem(label, "ijk,jr,ks->irs", "((A C) B)", data, **sizes, r=first, s=second)


def gcn(graph: str, folder: Path | None = None) -> NetworkProblem:
    """Two layers of GCN without what is between them, on a graph that the models know."""
    loaded = load_labelled("gcn", graph, 0, folder)
    dense = {name: stored.to_dense() for name, stored in loaded.data.items()}
    adjacency, features = elements(dense["A"]), elements(dense["X"])
    nodes, width = dense["X"].shape
    weights = [v for n, v in dense.items() if n not in ("A", "X") and v.ndim == 2]
    hidden, classes = weights[0].shape[1], weights[1].shape[1]
    data = {
        "inner": adjacency,
        "features": features,
        "first": weights[0],
        "outer": adjacency,
        "second": weights[1],
    }
    return problem(
        f"two-layer GCN, {loaded.label}", "ij,jf,fh,ki,hc->kc", "((D ((A B) C)) E)",
        dict(zip("ABCDE", data.values(), strict=True)),
        i=nodes, j=nodes, k=nodes, f=width, h=hidden, c=classes,
    )  # fmt: skip
