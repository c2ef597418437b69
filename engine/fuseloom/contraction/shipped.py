"""Networks that come with the program: those of the paper, its running example, a chain of GCN."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.contraction.networks import from_einsum, read_extents
from fuseloom.contraction.paths import binary
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import ProgramError


@dataclass(frozen=True)
class Shipped:
    """A network that comes with the program.

    Attributes
    ----------
    einsum : str
    tree : str
        By names of operands.
    extents : str
        As the command line takes them.
    """

    einsum: str
    tree: str
    extents: str


# Sizes are such that the constraints of the released program have a solution at bound 1, where
# the paper says so: a larger mode is an outer level there.
SHIPPED: dict[str, Shipped] = {
    "running example": Shipped("ipq,jpr,kqr,jkr->ijk", "(((A B) C) D)", "i=7,j=6,k=5,p=6,q=5,r=4"),
    "3-index unrestricted": Shipped("kmn,mi,np->ipk", "((A B) C)", "k=60,m=20,n=20,p=20,i=8"),
    "3-index restricted": Shipped("kmn,mi,np,ki->ipk", "(((D B) A) C)", "k=28,m=24,n=20,p=20,i=24"),
    "4-index": Shipped("ipk,kl,jql->ipjq", "((A B) C)", "i=14,j=10,p=10,q=12,k=12,l=14"),
    "MTTKRP": Shipped("ijk,kr,jr->ir", "((A B) C)", "i=60,j=50,k=40,r=16"),
    "TTMc": Shipped("ijk,jr,ks->irs", "((A C) B)", "i=60,j=40,k=40,r=8,s=8"),
    "two-layer GCN": Shipped(
        "ij,jf,fh,ki,hc->kc", "((D ((A B) C)) E)", "i=30,j=30,f=20,h=8,k=30,c=5"
    ),
}


def shipped(name: str) -> ContractionTree:
    """A network that comes with the program, by its name.

    Raises
    ------
    ProgramError
        If none is called so.
    """
    if name not in SHIPPED:
        raise ProgramError(f"no network is called {name!r}", hint=f"known: {', '.join(SHIPPED)}")
    found = SHIPPED[name]
    return binary(from_einsum(found.einsum, read_extents(found.extents)), found.tree)
