"""The question about a network: values that are none, addresses, trees that are changed."""

from __future__ import annotations

import random
from urllib.parse import parse_qsl

import pytest

from fuseloom.contraction.networks import from_einsum, read_extents
from fuseloom.contraction.paths import binary
from fuseloom.contraction.shipped import SHIPPED, shipped
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom_workbench.networks import trees
from fuseloom_workbench.networks.asked import NetworkQuestion
from fuseloom_workbench.networks.backend import address, from_address
from fuseloom_workbench.networks.page import asked_of


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"density": 0}, "above 0"),
        ({"density": float("nan")}, "above 0"),
        ({"density": "much"}, "above 0"),
        ({"density": True}, "above 0"),
        ({"seed": -1}, "from 0 on"),
        ({"bound": -1}, "integer"),
        ({"most_bytes": 0}, "integer"),
        ({"bounds": [["X1"]]}, "no value of bounds"),
        ({"bounds": [["X1", "2"]]}, "no value of bounds"),
        ({"pins": "outermost i"}, "no value of pins"),
        ({"einsum": "a" * 2001}, "no value of einsum"),
        ({"encoding": "mine"}, "no value of encoding"),
        ({"colour": "red"}, "nothing is called"),
    ],
)
def test_what_is_no_value_is_refused(changes, says):
    asked = NetworkQuestion.shipped()
    with pytest.raises(ProgramError, match=says) as told:
        asked.changed(changes)
    assert told.value.hint


def test_another_tree_drops_what_rested_on_the_old_one():
    asked = NetworkQuestion.shipped().changed(
        {"bounds": [["X1", 0], ["X2", 1]], "pins": ["outermost r"]}
    )
    assert asked.changed({"density": 0.5}).pins == ("outermost r",)
    other = asked.changed({"tree": "((A B) (C D))"})
    assert (other.bounds, other.pins) == ((), ())
    assert asked.changed({"bound": 1}).bounds == ()


@pytest.mark.parametrize("name", SHIPPED)
def test_an_address_asks_for_the_same_again(name):
    asked = NetworkQuestion.shipped(name).changed({"bound": 2, "seed": 7, "most_bytes": 512})
    assert from_address(dict(parse_qsl(address(asked)))) == asked


def test_an_address_that_asks_for_nonsense_opens_the_example():
    asked, wrong = asked_of({"network": [b"no such"], "bound": [b"x"]})
    assert asked == NetworkQuestion.shipped()
    assert "no such" in wrong
    assert "integer" in asked_of({"bound": [b"x"]})[1]
    own, wrong = asked_of({"einsum": [b"ij,jk->ik"], "extents": [b"i=2,j=3,k=4"]})
    assert (own.tree, own.name, wrong) == ("", "", "")


def random_tree(rng: random.Random, names: str) -> trees.Nested:
    parts: list[trees.Nested] = list(names)
    while len(parts) > 1:
        rng.shuffle(parts)
        parts = [(parts[0], parts[1]), *parts[2:]]
    return parts[0]


def places(tree: trees.Nested, place: trees.Place = ()) -> list[trees.Place]:
    if isinstance(tree, str):
        return [place]
    return [place, *places(tree[0], (*place, 0)), *places(tree[1], (*place, 1))]


def test_changed_trees_have_every_operand_once():
    rng = random.Random(3)
    einsum = "ab,bc,cd,de,ef->af"
    program = from_einsum(einsum, read_extents("a=2,b=3,c=2,d=3,e=2,f=3"))
    joined = 0
    for _ in range(60):
        tree = random_tree(rng, "ABCDE")
        moved, beside = rng.choice(places(tree)), rng.choice(places(tree))
        try:
            made = trees.joined(tree, moved, beside)
        except ProgramError:
            shorter = min(len(moved), len(beside))
            assert moved[:shorter] == beside[:shorter]
            continue
        joined += 1
        text = trees.text(made)
        assert sorted(x for x in text if x.isalpha()) == list("ABCDE")
        assert trees.nested(binary(program, text)) == made
        assert trees.text((trees.at(tree, beside), trees.at(tree, moved))) in text
        inner = [p for p in places(made) if not isinstance(trees.at(made, p), str)]
        where = rng.choice(inner)
        assert trees.swapped(trees.swapped(made, where), where) == made
    assert joined > 20


@pytest.mark.parametrize("place", [(2,), (0, 0, 0, 0, 0), (1, 1, 1)])
def test_there_is_no_such_place(place):
    tree = trees.nested(shipped("running example"))
    with pytest.raises(FuseloomError):
        trees.joined(tree, place, (0, 0))
    with pytest.raises(FuseloomError):
        trees.swapped(tree, place)
