"""Speed of the memory model, in requests per second of CPU time on one core.

    python -m benchmarks.memory [--requests 2000000] [--repeat 3] [--outstanding 16]

Requesters work in a closed loop: each has so many requests of one access under way and issues
the next when one is answered, at most one per machine cycle (1 GHz).  Sequential: each reads a
region of its own from a random bank on.  Random: anywhere.  Filling the arrays and compiling are
not part of the time; the loop that drives the memory is.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numba
import numpy as np

from fuseloom.dataflow.dram import Config, Dram, Ideal, MemoryStats, build, ddr4_3200, hbm2
from fuseloom.dataflow.dram.state import LAST
from fuseloom.dataflow.sim.compiled.dram import advance, answer_tag, answer_time, push

CLOCK = 1e9
REQUESTERS = 2, 8, 64


@numba.njit(error_model="numpy")
def drive(m: Any, outstanding: Any, addresses: Any, size: Any) -> None:
    """Each requester (row of addresses) asks for its next as soon as one is answered."""
    ports, count = addresses.shape
    issued = np.zeros(ports, np.int64)  # cycle from which the next can be issued
    following = np.zeros(ports, np.int64)
    for _ in range(min(outstanding, count)):
        for port in range(ports):
            push(m, issued[port], port, addresses[port, following[port]], size, 0, port)
            issued[port] += 1
            following[port] += 1
    while True:
        answered = advance(m)
        if answered == 0:
            return
        for i in range(answered):
            port, cycle = answer_tag(m, i), answer_time(m, i)
            k = following[port]
            if k < count:
                following[port] = k + 1
                cycle = max(cycle, issued[port])
                issued[port] = cycle + 1
                push(m, cycle, port, addresses[port, k], size, 0, port)


def pattern(config: Config, ports: int, count: int, sequential: bool) -> Any:
    """Addresses (ports, count)."""
    rng = np.random.default_rng(0)
    if not isinstance(config, Dram):
        return np.zeros((ports, count), np.int64)
    accesses = config.capacity // config.access_bytes
    if not sequential:
        return rng.integers(0, accesses, (ports, count)) * config.access_bytes
    start = rng.integers(0, accesses, ports)[:, None]
    return (start + np.arange(count)) % accesses * config.access_bytes


def measure(config: Config, ports: int, sequential: bool, options: Any) -> str:
    """One row of the table."""
    addresses = pattern(config, ports, options.requests // ports, sequential)
    size = config.access_bytes if isinstance(config, Dram) else 4
    best = float("inf")
    for _ in range(options.repeat):
        m = build(config, CLOCK, ports, options.outstanding)
        start = time.process_time()
        drive(m, options.outstanding, addresses, size)
        best = min(best, time.process_time() - start)
    stats = MemoryStats.of(m, config, int(m[LAST]))
    return (
        f"{config.name:10} {ports:4} {'sequential' if sequential else 'random':10} "
        f"{addresses.size / best / 1e6:8.1f} {stats.bandwidth / 1e9:8.1f} {stats.share:8.1%} "
        f"{stats.hit_rate:8.1%} {stats.read_latency:10.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--outstanding", type=int, default=16)
    options = parser.parse_args()
    drive(build(Ideal(), CLOCK, 1, 1), 1, np.zeros((1, 1), np.int64), 4)  # compiles
    print(
        f"{'memory':10} {'ask':>4} {'pattern':10} {'M req/s':>8} {'GB/s':>8} {'of peak':>8} "
        f"{'row hits':>8} {'latency':>10}"
    )
    for config in (hbm2(), ddr4_3200()):
        for ports in REQUESTERS:
            for sequential in (True, False):
                print(measure(config, ports, sequential, options), flush=True)
    print(measure(Ideal(60), 64, True, options))


if __name__ == "__main__":
    main()
