"""The scheduling language: what it reads, what it prints, what it refuses and where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuseloom.dataflow.fusion.directives import (
    Block,
    Global,
    Locate,
    Materialise,
    Nonzero,
    Parallel,
    Permute,
    Repeat,
    Sequenced,
    Span,
    Store,
    Strict,
)
from fuseloom.dataflow.fusion.schedule import MAX_TEXT, Fuse, Order, Schedule
from fuseloom.errors import ParseError, ScheduleError
from fuseloom.program.formats import LevelFormat

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,4}'{0,2}", fullmatch=True)
INDICES = st.lists(NAMES, min_size=1, max_size=4, unique=True).map(tuple)
SPANS = st.none() | st.builds(Span, NAMES, NAMES)
COUNTS = st.integers(1, 999)
LEVELS = st.sampled_from((LevelFormat.DENSE, LevelFormat.COMPRESSED))
SETTINGS = st.one_of(
    st.builds(Parallel, NAMES, COUNTS, SPANS),
    st.builds(Block, COUNTS),
    st.builds(Locate, st.booleans(), SPANS),
    st.builds(Repeat, st.booleans(), SPANS),
    st.builds(Global, SPANS),
    st.builds(Materialise, NAMES),
    st.builds(Permute, NAMES, INDICES, SPANS),
    st.builds(Strict, st.booleans()),
    st.builds(Nonzero, NAMES),
    st.builds(Sequenced, st.lists(NAMES, min_size=2, max_size=4, unique=True).map(tuple)),
    st.builds(Store, NAMES, st.lists(LEVELS, min_size=1, max_size=4).map(tuple)),
    st.builds(Store, st.none(), LEVELS.map(lambda level: (level,))),
)
SCHEDULES = st.builds(
    Schedule,
    st.lists(st.builds(Fuse, NAMES, NAMES, st.booleans()), max_size=4).map(tuple),
    st.lists(
        st.builds(Order, NAMES, st.none() | NAMES, INDICES),
        max_size=4,
        unique_by=lambda order: (order.first, order.last),
    ).map(tuple),
    st.lists(SETTINGS, max_size=4)
    .filter(lambda settings: sum(isinstance(s, Sequenced) for s in settings) < 2)
    .map(tuple),
)


def test_every_directive() -> None:
    schedule = Schedule.parse(
        """
        # two layers
        fuse T1..H; fuse T5 .. Y   # each its own region
        fuse Z;
        order T1: i, k,p
        order T1..H: i,k,p,n
        """
    )
    assert schedule.fusions == (Fuse("T1", "H"), Fuse("T5", "Y"), Fuse("Z", "Z"))
    assert schedule.orders == (
        Order("T1", None, ("i", "k", "p")),
        Order("T1", "H", ("i", "k", "p", "n")),
    )
    assert str(schedule) == (
        "fuse T1..H; fuse T5..Y; fuse Z; order T1: i,k,p; order T1..H: i,k,p,n"
    )


@pytest.mark.parametrize("text", ["", "  \n\n", ";;", "# nothing but a comment"])
def test_nothing_is_a_schedule(text: str) -> None:
    assert Schedule.parse(text) == Schedule()
    assert str(Schedule.parse(text)) == ""


@pytest.mark.deep  # takes seconds
@given(SCHEDULES)
def test_printing_and_reading_back(schedule: Schedule) -> None:
    assert Schedule.parse(str(schedule)) == schedule


@pytest.mark.deep  # takes seconds
@given(SCHEDULES)
def test_one_directive_a_line_reads_the_same(schedule: Schedule) -> None:
    lines = str(schedule).replace("; ", "  # one\n\t")
    assert Schedule.parse(lines) == schedule


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "hint"),
    [
        ("fuse T1..", 1, 1, "cannot read the directive 'fuse T1..'", "known directives"),
        ("fuse A..B;  merge C", 1, 13, "'merge C'", "fuse A..B [where possible], order"),
        ("fuse A..B\n\n   order T i,j", 3, 4, "'order T i,j'", "known directives"),
        ("fuse A;\torder T: i,2k", 1, 9, "'2k' is not an index name", "write order T: i,k,j"),
        ("order T: i,,j", 1, 1, "'' is not an index name", "write order T: i,k,j"),
        ("# first\norder A..B: i,j,i", 2, 1, "named twice in the order i,j,i", "each index once"),
        ("order T:", 1, 1, "cannot read the directive 'order T:'", "known directives"),
        ("fuse A B", 1, 1, "cannot read the directive 'fuse A B'", "known directives"),
        ("parallel i by 0", 1, 1, "the factor is 0", "at least 1"),
        ("fuse A; block 0", 1, 9, "the block's edge is 0", "at least 1"),
        ("parallel i", 1, 1, "cannot read the directive", "parallel i by 4"),
        ("locate maybe", 1, 1, "cannot read the directive", "locate on|off"),
        ("permute A to i,i", 1, 1, "named twice in the order i,i", "each index once"),
        ("fuse 1..2", 1, 1, "cannot read the directive 'fuse 1..2'", "known directives"),
    ],
)
def test_errors_name_the_place_and_the_way_out(
    text: str, line: int, column: int, message: str, hint: str
) -> None:
    with pytest.raises(ParseError) as caught:
        Schedule.parse(text, source="a.sched")
    problem = caught.value
    assert (problem.line, problem.column, problem.source) == (line, column, "a.sched")
    assert message in problem.message
    assert hint in (problem.hint or "")
    assert str(problem).startswith(f"a.sched: line {line}, column {column}: ")


@given(st.text(alphabet="fuseordr TAB.:;,#ij'\n", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        schedule = Schedule.parse(text)
    except ParseError as refused:
        place, hint = refused.line, refused.hint
    else:
        place, hint = 1, str(schedule)
        assert Schedule.parse(str(schedule)) == schedule
    assert place is not None
    assert hint is not None


def test_text_without_end_is_refused() -> None:
    with pytest.raises(ParseError, match="longer than 1000000 characters"):
        Schedule.parse("#" * (MAX_TEXT + 1))


@pytest.mark.parametrize(
    "text",
    ["order T: i,k\norder T: k,i", "order T..H: i,k\n order T..H: i,k", "order T: i;order T: i"],
)
def test_two_orders_of_one_thing_are_refused(text: str) -> None:
    """Of these the last one won."""
    with pytest.raises(ScheduleError, match="gives a second order to what has one by") as caught:
        Schedule.parse(text, source="a.sched")
    second = text.rindex("order")
    line = text.count("\n", 0, second) + 1
    column = second - text.rfind("\n", 0, second)
    assert caught.value.place == {"source": "a.sched", "line": line, "column": column}
    assert Schedule.parse("order T: i,k; order T..T: k,i").orders[1].last == "T"
    assert len(Schedule.parse("order T: i; order U: i; order T..U: i").orders) == 3


def test_directives_know_their_place_and_are_equal_without() -> None:
    schedule = Schedule.parse("fuse T..H\n  order T: i,k; parallel i by 2")
    assert schedule.fusions[0].at == (1, 1, None)
    assert schedule.orders[0].at == (2, 3, None)
    assert schedule.settings[0].at == (2, 17, None)
    assert schedule.orders[0] == Order("T", None, ("i", "k"))
    assert hash(schedule.orders[0]) == hash(Order("T", None, ("i", "k")))
    assert Schedule.parse(str(schedule)) == schedule
