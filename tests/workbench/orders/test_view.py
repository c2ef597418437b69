"""The ranking of orders: what it depends on, and one estimate at a time."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import islice

import pytest

from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine import Machine
from fuseloom_workbench.orders import view
from fuseloom_workbench.orders.orders_panel import OrdersPanel
from fuseloom_workbench.state.design import Design
from fuseloom_workbench.state.files import Upload

TEXT = "A: 4x4 csr\nB: 4x4 csr\nT[i,k] = A[i,j] * B[j,k]\noutput T"
OTHER = {
    "model": "spmv",
    "data": "random",
    "seed": 1,
    "cuts": frozenset({2}),
    "wishes": Schedule.parse("order T1: i,j,k").orders,
    "text": TEXT,
    "settings": Schedule.parse("parallel i by 2").settings,
    "machine": Machine.preset("hbm2"),
    "where_possible": True,
    "options": (("hidden", 64),),
    "as_written": True,
    "uploads": (Upload("A", "key", "mine.mtx"),),
}
"""Another value of each field of a design; of orders it depends through those of its regions."""


class Shown:
    """What a key reads of a session."""

    def __init__(self, session, design):
        self.design, self.region = design, 0
        self.regions = session.regions
        self.built = _Built(session.built, design)


class _Built:
    def __init__(self, built, design):
        self.region_order = built.region_order
        self.problem = type(built).problem.fget(_Held(built, design))


class _Held:
    def __init__(self, built, design):
        self.design, self.loaded = design, built.loaded


def test_every_field_of_a_design_is_known_here():
    assert {f.name for f in fields(Design)} == {*OTHER, "orders"}


@pytest.mark.parametrize("name", OTHER)
def test_a_ranking_is_forgotten_when_anything_that_it_depends_on_changes(session, name):
    design = session.design
    other = replace(design, **{name: OTHER[name]})
    assert view.key(Shown(session, design)) != view.key(Shown(session, other))


def test_the_orders_of_another_size_are_estimated_anew(session):
    panel = OrdersPanel(session)
    before = [e["cycles"] for e in panel.view["entries"]]
    assert session.set_options({"hidden": "64"}), session.message
    after = [e["cycles"] for e in panel.view["entries"]]
    assert after
    assert after != before
    fresh = OrdersPanel(type(session)("gcn", "karate"))
    fresh.session.set_options({"hidden": "64"})
    assert [e["order"] for e in fresh.view["entries"]] == [
        e["order"] for e in panel.view["entries"]
    ]


def test_its_own_order_does_not_matter(session):
    key = view.key(session)
    other = next(e for e in OrdersPanel(session).view["entries"] if not e["chosen"])
    assert session.set_order(0, tuple(other["order"]))
    assert view.key(session) == key


def test_orders_come_one_at_a_time_and_no_more_than_asked_for(session):
    some = list(view.candidates(session.built, 0, 3))
    assert 1 <= len(some) <= 3
    first = next(islice(view.candidates(session.built, 0, 3), 1))
    assert first.order == some[0].order
    indices = set(session.built.region_order(0))
    assert all(set(one.order) == indices for one in some)


def test_a_later_region_reads_what_the_earlier_ones_are_expected_to_write(session):
    later = list(view.candidates(session.built, 1, 2))
    assert later
    assert all(one.order for one in later)
