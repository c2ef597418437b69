"""Addresses of other pages: each opens the same program there."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlparse

import pytest

import fuseloom as fl
from fuseloom.access.text import read_term
from fuseloom.comparison.examples import EXAMPLES, example, example_path
from fuseloom.contraction.networks import from_einsum, read_extents
from fuseloom.contraction.paths import binary
from fuseloom.contraction.tree import ContractionTree
from fuseloom_workbench.networks.backend import from_address as network_question
from fuseloom_workbench.patterns.backend import from_address as mapping_question
from fuseloom_workbench.state.addresses import LONGEST_ADDRESS, requests_of
from fuseloom_workbench.state.commands import carry_out
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.systems.openings import network_address, openings, pattern_address

PRODUCT = "A: 8x4 dense\nB: 4x5 dense\nC[i,j] = A[i,k] * B[k,j]"


def words(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlparse(address).query))


def opened(name: str) -> dict[str, str]:
    text = example_path(name).read_text("utf-8")
    return {one.page: one.address for one in openings(example(name)[0], text, None)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_explorer_opens_the_same_program(name):
    session = Session("spmv", "random")
    for request, *arguments in requests_of(words(opened(name)["explorer"])):
        carry_out(session, request, arguments)
    program = example(name)[0]
    assert session.built.program.statements == program.statements
    assert session.built.program.inputs == program.inputs


def test_a_model_is_opened_by_name():
    program = fl.models.load_model("attention").program
    (one,) = openings(program, "", ("attention", "random"))
    assert one.address == "explorer?model=attention&data=random"


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("attention_block", {"explorer"}),
        ("gcn_layer", {"explorer", "networks"}),
        ("mttkrp", {"explorer", "networks"}),
        ("conv_block", {"explorer"}),
        ("mlp_block", {"explorer"}),
    ],
)
def test_only_pages_that_take_the_program_are_offered(name, pages):
    assert {*opened(name)} == pages


@pytest.mark.parametrize("name", ["gcn_layer", "mttkrp"])
def test_a_network_has_the_same_contractions(name):
    asked = network_question(words(opened(name)["networks"]))
    made = binary(from_einsum(asked.einsum, read_extents(asked.extents)), asked.tree)
    wanted = ContractionTree.of(example(name)[0])
    here, there = (
        sorted(sorted(tree.extents[x] for x in one.indices) for one in tree.contractions)
        for tree in (made, wanted)
    )
    assert here == there
    assert len(made.inputs) == len(wanted.inputs)


@pytest.mark.parametrize(
    "text",
    [
        "A: 4x3 csr\ny[i] = A[i,j]",  # a sum of one tensor
        "A: 4x4 csr\nB[i,k] = A[i,j] * A[j,k]",  # read twice
        "A: 4x3 csr\nb: 4 dense\nC[i,j] = A[i,j] + b[i]",
        # j is summed late, which that page would do early
        "A: 4x3 csr\nb: 3 dense\nc: 4 dense\nT[i,j] = A[i,j] * b[j]\ny[i] = T[i,j] * c[i]",
    ],
)
def test_what_is_no_such_network_is_not_offered(text):
    assert not network_address(fl.parse(text))


def test_a_single_layer_is_opened_as_a_term():
    address = pattern_address(fl.parse(PRODUCT))
    asked = mapping_question(words(address))
    assert asked.source == "term"
    layers, _ = fl.access.program_layers.layers_of_program(fl.parse(PRODUCT))
    assert read_term(asked.term).term == layers[0].term
    assert not pattern_address(fl.parse(PRODUCT + "\nD[i,j] = relu(C[i,j])"))


def test_addresses_that_servers_may_refuse_are_left_out():
    text = PRODUCT + "\n# " + "x" * LONGEST_ADDRESS
    assert {one.page for one in openings(fl.parse(PRODUCT), text, None)} == {
        "networks", "patterns"
    }  # fmt: skip
