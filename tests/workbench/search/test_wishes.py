"""The request of a page for a search: bounds, units, and plain data in and out."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.errors import FuseloomError
from fuseloom.exploration.objective import OBJECTIVES
from fuseloom_workbench.search.wishes import OBJECTIVE_TEXTS, SearchSettings


def test_settings_are_read_as_people_write_them():
    asked = SearchSettings.of({"strategy": "random", "runs": "1,000", "gap": "2.5", "copies": 1})
    assert (asked.strategy, asked.runs, asked.copies) == ("random", 1000, 1)
    assert asked.gap == pytest.approx(0.025)
    assert SearchSettings.of(asked.to_dict()) == asked
    assert SearchSettings.of(None) == SearchSettings()
    assert SearchSettings.of({"nonzero": True}).nonzero


def test_objectives_budgets_and_rules_are_read():
    asked = SearchSettings.of(
        {"objective": "edp", "area": "20,000", "energy": "2e-6", "rules": " keep  T1\n\nfuse T1, H"}
    )
    assert (asked.objective, asked.area, asked.energy) == ("edp", 20_000.0, 2e-6)
    assert asked.rules == ("keep T1", "fuse T1, H")
    assert asked.designs
    assert SearchSettings.of(asked.to_dict()) == asked
    assert asked.goal.unit == "J·s"
    plain = SearchSettings.of({"area": "", "rules": ["keep T1"]})
    assert (plain.area, plain.designs) == (None, False)
    assert OBJECTIVE_TEXTS.keys() == OBJECTIVES.keys()


def test_values_of_parameters_are_read():
    asked = SearchSettings.of(
        {"lanes": "1, 2", "parameters": {"memory.channels": "2,8", "on_chip": " "}, "every": True}
    )
    assert asked.parameters == {"memory.channels": (2, 8), "lanes": (1, 2)}
    assert (asked.lanes, asked.machines, asked.every, asked.designs) == (0, 4, True, True)
    assert SearchSettings.of(asked.to_dict()) == asked
    plain = SearchSettings.of({"lanes": "2,", "parameters": {"on_chip": ""}})
    assert (plain.lanes, plain.parameters, plain.designs) == (2, {}, False)


def test_values_that_give_the_machine_shown_alone_are_no_search_of_machines():
    machine = Machine.preset("hbm2")

    def settled(parameters, lanes=1):
        return SearchSettings.of({"parameters": parameters, "every": True}).on(machine, lanes)

    assert settled({"memory.channels": "8", "channel_capacity": "unbounded"}) == SearchSettings()
    assert settled({"lanes": "2", "memory.channels": "8"}) == SearchSettings(lanes=2)
    assert settled({"lanes": "1", "on_chip": "unbounded"}, 2) == SearchSettings(lanes=1)
    for other in ({"memory.channels": "2"}, {"memory.channels": "2, 8"}, {"on_chip": "65536"}):
        assert settled(other).parameters
    with pytest.raises(FuseloomError, match=r"^memory\.channels: .*power of two"):
        settled({"memory.channels": "3"})


@pytest.mark.parametrize(
    ("name", "value"),
    [("strategy", "luck"), ("strategy", ["auto"]), ("seconds", "0"), ("seconds", "1e9"),
     ("seconds", "nan"), ("gap", "100"), ("gap", "-1"), ("runs", "1.5"), ("runs", "many"),
     ("lanes", 65), ("copies", [2]), ("copies", "5"), ("nonzero", "True"),
     ("seed", 10**400), ("objective", "joy"), ("objective", ["area"]), ("area", "-1"),
     ("area", "wide"), ("energy", "nan"), ("energy", [1]), ("rules", "melt T1"), ("rules", 7),
     ("rules", [1]), ("rules", "keep T1\n" * 51), ("rules", "keep " + "T" * 300),
     ("lanes", "1,65"), ("lanes", "1,many"), ("lanes", "0, 1"), ("every", "yes"),
     ("parameters", "lanes"), ("parameters", {str(k): "1" for k in range(51)}),
     ("parameters", {"a": ",".join(map(str, range(40))), "b": ",".join(map(str, range(40)))})],
)  # fmt: skip
def test_what_is_out_of_bounds_names_its_field(name, value):
    with pytest.raises(FuseloomError) as refused:
        SearchSettings.of({name: value})
    assert str(refused.value).startswith(f"{name}: ")


def test_a_server_may_allow_less_time():
    assert SearchSettings.of({"seconds": 20}, limit=30.0).seconds == 20
    with pytest.raises(FuseloomError, match="to 30 s"):
        SearchSettings.of({"seconds": 31}, limit=30.0)


@pytest.mark.parametrize(
    "more", [{"objective": "area"}, {"area": 1}, {"energy": "1"}, {"rules": "keep T"},
             {"lanes": "1,2"}, {"parameters": {"alu_latency": "1,2"}}],
)  # fmt: skip
def test_what_does_not_go_together_names_its_field(more):
    (name,) = more
    with pytest.raises(FuseloomError, match=rf"^{name}: "):
        SearchSettings.of({"strategy": "random", **more})
    if name != "rules":
        with pytest.raises(FuseloomError, match=r"^nonzero: "):
            SearchSettings.of({"nonzero": True, **more})
