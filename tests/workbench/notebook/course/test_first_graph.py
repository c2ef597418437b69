"""Notebook 2: right answers are accepted, three wrong ones of each refused with the right words."""

from __future__ import annotations

from fuseloom.dataflow.sim.tokens import DONE, REPEAT, SIGNAL_STOP, Stop
from fuseloom_workbench.notebook.course.first_graph import EXERCISES

from .answers import tried


def signal(stop=SIGNAL_STOP, done=True, slow=1):
    """The repeat signal, with faults."""

    def generator(node):
        (source,), (out,) = node.inputs, node.outputs
        while True:
            token = yield source.take
            if token is DONE:
                if done:
                    yield out.put(DONE)
                return
            yield out.put(stop if isinstance(token, Stop) else REPEAT)
            node.clock += slow

    return generator


ANSWERS = {
    "2.1": (2, [(3, "3 scanners are too many"), (1, "1 scanner is too few"), ("2", "no number")]),
    "2.2": (
        "1 S0 0 2 S0 3 S1 D",
        [("0 1 S0", "token 1 is not 0"), ("1 S0 0 2 S0 3 S0 D", "token 7 is not S0"),
         ("1 S0 0 2 S0 3 S1", "token 8 is missing")],
    ),
    "2.3": (
        "4 S0 5 9 S0 28 S1 D",
        [("2 S0 5 9 S0 28 S1 D", "token 1 is not 2"), ("4 5 9 28 D", "token 2 is not 5"),
         (4, "4 is no stream")],
    ),
    "2.4": (
        "4 14 28 S0 D",
        [("4 14 28 S1 D", "token 4 is not S1"), ("4 0 14 28 S0 D", "token 2 is not 0"),
         ("4 14 28 S0 D D", "one too many")],
    ),
    "2.5": (
        signal(),
        [(signal(stop=REPEAT), "yours is R, the machine's S"), (signal(done=False), "D is missing"),
         (signal(slow=2), "comes at cycle")],
    ),
    "2.6": (19, [(18, "too few"), (200, "200 cycles are too many"), (None, "no answer yet")]),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)
