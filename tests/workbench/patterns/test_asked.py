"""The question about a computation: values that are none, what follows from a choice, addresses."""

from __future__ import annotations

from dataclasses import fields
from urllib.parse import parse_qsl

import pytest

from fuseloom.access.named_kernels import KERNELS
from fuseloom.errors import ProgramError
from fuseloom_workbench.patterns.asked import LONGEST, MOST, MappingQuestion
from fuseloom_workbench.patterns.backend import address, from_address
from fuseloom_workbench.patterns.page import asked_of


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rows": 0}, "rows is an integer from 1 to 512"),
        ({"rows": 513}, "rows is an integer"),
        ({"rows": 8.5}, "rows is an integer"),
        ({"rows": True}, "rows is an integer"),
        ({"columns": "many"}, "columns is an integer"),
        ({"buffer": 2**40}, "buffer is an integer"),
        ({"bandwidth": 0}, "bandwidth is a number"),
        ({"bandwidth": float("nan")}, "bandwidth is a number"),
        ({"word_bytes": None}, "word bytes is an integer"),
        ({"seconds": 3600}, "seconds is a number from 1 to 30"),
        ({"nodes": 10**9}, "nodes is an integer"),
        ({"layer": -1}, "layer is an integer from 0"),
        ({"double_buffered": "yes"}, "no value of double_buffered"),
        ({"source": "file"}, "'file' is no source"),
        ({"network": "../etc"}, "is no network"),
        ({"sets": ["/etc/passwd"]}, "is no set of rules"),
        ({"sets": "boxes"}, "no value of sets"),
        ({"without": [1]}, "without are names"),
        ({"without": ["x" * 81]}, "without are names"),
        ({"term": "x" * (LONGEST + 1)}, "is not read here"),
        ({"own": 7}, "no value of own"),
        ({"colour": "red"}, "nothing is called 'colour'"),
    ],
)
def test_what_is_no_value_is_refused(changes, says):
    asked = MappingQuestion()
    with pytest.raises(ProgramError, match=says):
        asked.changed(changes)


def test_every_number_has_a_largest_value():
    numbers = {f.name for f in fields(MappingQuestion) if type(f.default) in (int, float)}
    assert numbers == set(MOST)
    for name, most in MOST.items():
        kind = type(getattr(MappingQuestion(), name))
        assert getattr(MappingQuestion().changed({name: kind(most)}), name) == most


def test_naming_a_computation_makes_it_the_source():
    asked = MappingQuestion().changed({"network": "resnet18", "layer": 3})
    assert (asked.source, asked.layer) == ("network", 3)
    assert asked.changed({"network": "bert"}).layer == 0
    term = asked.changed({"term": "(tensor A 2) A"})
    assert (term.source, term.network) == ("term", "resnet18")
    kernel = term.changed({"kernel": "matmul"})
    assert (kernel.source, kernel.extents) == ("kernel", KERNELS["matmul"].example)
    assert kernel.changed({"kernel": "ij,kj->ik"}).extents == "i=32,j=32,k=32"
    assert kernel.changed({"kernel": "matmul", "extents": "m=1,k=1,n=1"}).extents == "m=1,k=1,n=1"


def test_what_data_depend_on_is_the_computation():
    asked = MappingQuestion()
    assert asked.changed({"rows": 8, "layer": 0, "without": ["x"]}).computation == asked.computation
    assert asked.changed({"seed": 1}).computation != asked.computation
    assert asked.changed({"extents": "n=1"}).computation != asked.computation


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"network": "vit", "layer": 2, "rows": 16, "columns": 8, "double_buffered": False},
        {"term": "(tensor A 2 3)\n(access A 1)", "own": '(rule r "x & y" ?a => ?a)'},
        {"sets": ["boxes", "laws"], "without": ["box-of-box", "group-of-one"], "bandwidth": 1.5},
        {"sets": []},
    ],
)
def test_an_address_asks_the_same_again(changes):
    asked = MappingQuestion().changed(changes)
    given = dict(parse_qsl(address(asked), keep_blank_values=True))
    assert from_address(given) == asked


def test_an_address_that_is_none_says_why():
    asked, wrong = asked_of({"rows": [b"7"], "colour": [b"red"]})
    assert asked == MappingQuestion()
    assert "colour" in wrong
