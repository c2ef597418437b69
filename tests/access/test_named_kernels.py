"""Kernels by name, products by einsum strings, and what is refused."""

from __future__ import annotations

import pytest

from fuseloom.access.meaning import evaluate, random_data, shape_of
from fuseloom.access.named_kernels import KERNELS, einsum_program, named_kernel
from fuseloom.cli import kernels as command
from fuseloom.errors import ProgramError


@pytest.mark.parametrize("name", KERNELS)
def test_examples_fit(name: str) -> None:
    term = named_kernel(name, KERNELS[name].example)
    assert evaluate(term, random_data(term)).shape == shape_of(term).dims


def test_the_command_line_knows_the_same_names() -> None:
    assert tuple(KERNELS) == command.KERNELS


def test_optional_extents_have_defaults() -> None:
    plain = named_kernel("conv2d", "n=1,c=4,h=8,w=8,o=4,r=3,s=3")
    assert plain == named_kernel(
        "conv2d", "n=1,c=4,h=8,w=8,o=4,r=3,s=3,stride=1,padding=0,dilation=1,groups=1"
    )
    strided = named_kernel("conv2d", "n=1,c=4,h=8,w=8,o=4,r=3,s=3,stride=2,padding=1,groups=2")
    assert shape_of(strided).access == (1, 4, 4, 4)


@pytest.mark.parametrize(
    ("name", "extents", "message"),
    [
        ("matmull", "", "no kernel"),
        ("matmul", "m=2,k=2", "matmul has no n"),
        ("matmul", "m=2,k=2,n=2,q=1", "no extent q"),
        ("matmul", "m=2,m=3", "two extents"),
        ("matmul", "m:2", "no extent"),
        ("matmul", "m=0,k=1,n=1", "m is 0"),
        ("max-pool", "n=1,c=1,h=2,w=2,r=3,s=3", "window"),
    ],
)
def test_faults_are_named(name: str, extents: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        named_kernel(name, extents)


@pytest.mark.parametrize(
    ("text", "extents", "message"),
    [
        ("ij,jk,kl->il", "i=2", "no einsum string of two operands"),
        ("ij,jk->ik", "i=2,j=2", "no extent of k"),
        ("ij,jk->ik", "i=2,j=2,k=2,l=2", "no extent l"),
    ],
)
def test_faults_of_einsum_strings_are_named(text: str, extents: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        einsum_program(text, extents)
