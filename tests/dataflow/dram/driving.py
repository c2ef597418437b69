"""Drivers of the memory, as Python runs it and as machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from fuseloom.dataflow.dram import Config, build, controller
from fuseloom.dataflow.sim.compiled import dram as compiled

FROM, ADDRESS, SIZE, WRITES = range(4)


def driver(push: Any, advance: Any, answer_tag: Any, answer_time: Any) -> Callable[..., None]:
    def drive(m: Any, outstanding: Any, requests: Any, answers: Any) -> None:
        """Each port asks for its next as soon as one of its ``outstanding`` is answered.

        ``requests[port, k]``: earliest cycle, address, size, write.  ``answers[port, k]``: cycle
        of issue, cycle of the answer, how often answered.
        """
        ports, count = requests.shape[0], requests.shape[1]
        for port in range(ports):
            time = 0
            for k in range(min(outstanding, count)):
                r = requests[port, k]
                time = max(time, r[0])
                answers[port, k, 0] = time
                push(m, time, port, r[1], r[2], r[3], port * count + k)
        following = np.full(ports, min(outstanding, count))
        while True:
            answered = advance(m)
            if answered == 0:
                return
            for i in range(answered):
                tag, time = answer_tag(m, i), answer_time(m, i)
                port = tag // count
                answers[port, tag - port * count, 1] = time
                answers[port, tag - port * count, 2] += 1
                k = following[port]
                if k < count:
                    following[port] = k + 1
                    r = requests[port, k]
                    time = max(time, r[0])
                    answers[port, k, 0] = time
                    push(m, time, port, r[1], r[2], r[3], port * count + k)

    return drive


def of(module: Any) -> Callable[..., None]:
    return driver(module.push, module.advance, module.answer_tag, module.answer_time)


plain = of(controller)
fast: Any = numba.njit(of(compiled))


def run(
    config: Config,
    requests: Any,
    *,
    outstanding: int = 1 << 10,
    clock_hz: float = 1e9,
    trace: int = 0,
    drive: Any = fast,
) -> tuple[Any, Any]:
    """Memory and answers after requests: an array (ports, count, 4), or a list for one port."""
    asked = np.array(requests, dtype=np.int64)
    asked = asked[None] if asked.ndim == 2 else asked
    outstanding = min(outstanding, asked.shape[1])
    m = build(config, clock_hz, len(asked), outstanding, trace)
    answers = np.zeros((*asked.shape[:2], 3), np.int64)
    drive(m, outstanding, asked, answers)
    assert (answers[:, :, 2] == 1).all()
    assert (answers[:, :, 1] > answers[:, :, 0]).all()
    return m, answers
