"""The quantities of the bench, a row each: key, name, unit, sentence, formula, source.

:mod:`fuseloom_workbench.base.help` reads them; a test looks that every source is there.
"""

from __future__ import annotations

Row = tuple[str, str, str, str, str, str]

_ESTIMATES = "docs/estimate.md § What an estimate rests on"
_TELLS = "docs/simulator.md § What a run tells"
_WHY = "docs/workbench.md § Why, and what would help"
_COSTS = "docs/workbench.md § Costs"
_SYSTEMS = "docs/workbench.md § One program, five ways"
_STATS = "fuseloom/dataflow/dram/stats.py"
_PROVED = "docs/exploration.md § What is proved"
_SEARCH = "docs/workbench.md § Search"
_METHOD = "FuseFlow §8.1"

_RUNS: tuple[Row, ...] = (
    ("cycles.simulated", "Cycles, simulated", "cycles of the machine",
     "How long a run takes, counted by simulating every token on the real data.",
     "sum over regions, which run one after another, of the last clock of their nodes",
     f"{_METHOD}; {_TELLS}"),
    ("cycles.estimated", "Cycles, estimated", "cycles of the machine",
     "How long a run is expected to take, without a run.",
     "sum over regions; exact: max-plus recurrence over the counted steps of every node; sampled: "
     "the same for some coordinates; else from statistics of the tensors. With a memory: the "
     "latency of an idle one, and no fewer cycles than the bytes take at its peak",
     f"FuseFlow §7; {_ESTIMATES}; docs/estimate.md § When a region is done"),
    ("cycles.interval", "Interval of an estimate", "cycles of the machine",
     "Between which cycles a run is expected, 19 times out of 20.",
     "exact: from the bound to 2 % more (65 % with bounded channels or a memory); sampled: ± two "
     "standard deviations, 2 % at least; "
     "statistics: a quarter to four times as many", _ESTIMATES),
    ("error.estimate", "Error of the estimate", "%",
     "By how much the estimate is off; + is too many cycles.",
     "estimated cycles / simulated cycles − 1", "docs/estimate.md § How good they are"),
    ("error.result", "Largest relative error", "no unit",
     "How far the result is from the dense reference; whether that is right is judged by the "
     "rounding error that each value may have.",
     "max over tensors of: largest |value − reference| / largest |reference|",
     "docs/simulator.md § What a run is compared with; fuseloom/results/check.py"),
    ("speedup.unfused", "Speed-up against unfused", "times (×)",
     "How many times as fast as the same program with every statement a region of its own.",
     "cycles of the preset unfused / cycles of this run", "FuseFlow §8.3"),
    ("speedup.a", "Speed-up against A", "times (×)",
     "How many times as fast, or as slow, as the pinned run A on the same data and machine.",
     "larger cycles / smaller cycles of the two runs",
     "docs/workbench.md § What is where"),
    ("factor.step", "Factor of a step", "times (×)",
     "What a step did to the estimated cycles; above 1 the design became faster.",
     "estimated cycles of the step before / of this step", "docs/workbench.md § What is where"),
    ("cycles.against", "Difference to A", "cycles of the machine",
     "How many cycles more (+) or fewer (−) this part takes than the same part of run A.",
     "cycles of B − cycles of A", f"{_WHY}; fuseloom/dataflow/why/difference.py"),
    ("cycles.change", "Change of the estimate", "cycles of the machine",
     "What this choice is expected to save (−) or cost (+).",
     "estimated cycles with it − estimated cycles now", "docs/workbench.md § What is where"),
    ("run.length", "Length of a run", "tokens; seconds",
     "How much there is to simulate, and the time that takes, very roughly.",
     "expected tokens / tokens that are simulated per second, by memory and log",
     "fuseloom_workbench/state/machines.py"),
    ("run.progress", "Progress", "% of what is to be done",
     "How far a simulation or a search is, and the best that a search has found so far.",
     "simulation: input of the regions consumed / all of it; search: half of its share of the time "
     "limit", "docs/simulator.md § Long runs; fuseloom_workbench/search/searching.py"),
    ("count.runs", "Runs", "runs", "Runs that this number rests on, or that are kept.",
     "one for each configuration that was simulated", _COSTS),
    ("count.regions", "Regions", "regions",
     "Parts of the program that run one after another, each as one dataflow graph.",
     "cuts of the schedule + 1; what memory does between regions is not counted", "FuseFlow §5"),
    ("share.region", "Share of a part", "%", "Which part of all cycles this part takes.",
     "cycles of the part / cycles of the whole", _WHY),
)  # fmt: skip

_WORK: tuple[Row, ...] = (
    ("flops", "FLOPs", "floating-point operations",
     "Arithmetic on values: each addition, multiplication or function is one.",
     "sum over nodes that compute of values made or folded × operations for each",
     f"{_METHOD}; FuseFlow §8.3; docs/figures.md § How the paper mode counts"),
    ("bytes", "Bytes moved", "B (bytes)",
     "Memory traffic that the graph asks for: coordinates, segments and values, 4 bytes each.",
     "sum over nodes that read or write memory of entries × 4 B",
     f"FuseFlow §8.3; {_METHOD}; fuseloom/dataflow/samml/primitive.py"),
    ("intensity", "Operational intensity", "FLOPs per byte",
     "How much is computed for each byte that is moved; on the left of the ridge memory is the "
     "limit.", "FLOPs / bytes moved (by the memory, where the machine has one)",
     f"FuseFlow §8.3; {_COSTS}"),
    ("energy", "Energy", "J (joules); J s",
     "What the actions of all nodes take: arithmetic, tokens through channels, buffers, memory.",
     "sum over nodes and kinds of actions of count × picojoules of one; times seconds on the "
     "machine: energy-delay product", "docs/spec/energy.md § 1 Total"),
    ("area", "Area", "LUTs; FFs (flip-flops); DSPs (multipliers); BRAMs (block memories)",
     "What hardware takes of an FPGA, memories of tensors not counted: a node, its channels, or "
     "the region that takes the most. What a node leaves unused of its channels counts below 0.",
     "sum over nodes and channels of what synthesis measured of each; max over regions, which run "
     "one after another", "docs/rtl.md § Area; docs/codesign.md § What it costs"),
    ("flops.rate", "FLOPs per cycle", "FLOPs per cycle",
     "How fast a run computes.", "FLOPs / simulated cycles", _COSTS),
    ("flops.peak", "Roof of computing", "FLOPs per cycle",
     "What a region computes in a cycle at most: each node that computes gives one value.",
     "max over regions of the sum over nodes of FLOPs per value",
     f"{_COSTS}; fuseloom_workbench/state/expected.py"),
    ("bandwidth.peak", "Roof of the memory", "bytes per cycle; GB/s",
     "What the memory moves at most.", "peak bytes per second / cycles per second",
     f"{_COSTS}; docs/simulator.md § Machines"),
    ("on_chip", "On-chip memory", "B (bytes)",
     "What the chip must hold in the region that needs the most, by the estimate.",
     "max over regions of: largest contents of accumulators and replayers + room of channels that "
     "have a bound, 4 B an entry", "docs/estimate.md § What if; fuseloom/dataflow/cost/on_chip.py"),
    ("lanes", "Lanes", "copies of nodes",
     "Copies of the same nodes side by side, among which the coordinates of an index are dealt.",
     "product of the lanes of the indices of a region; the most of any region",
     "FuseFlow §8.6; docs/passes.md § Lanes"),
    ("front", "Front", "runs",
     "Runs that no other beats in both figures; the step line joins them.",
     "right and unchecked runs of this problem, without those that another equals or beats in "
     "both", _COSTS),
    ("importance", "What a choice explains", "% of the variance of log cycles",
     "How much the runs with different values of this choice differ, adjusted for chance (ε²).",
     "1 − (squares within groups / (runs − values)) / (squares of all / (runs − 1))",
     f"{_COSTS}; fuseloom_workbench/costs/importance.py"),
    ("cycles.mean", "Mean cycles of a value", "cycles of the machine",
     "What runs with this value of a choice take; behind it, how many runs those are.",
     "exp(mean of log cycles): the geometric mean", "fuseloom_workbench/costs/importance.py"),
)  # fmt: skip

_DESIGN: tuple[Row, ...] = (
    ("recompute.factor", "Recomputation", "times (n×)",
     "How many times over an intermediate is computed, because it lies under an index that is not "
     "its own.", "values computed in this schedule / values computed as a region of its own",
     f"FuseFlow §8.3; {_WHY}; fuseloom/dataflow/why/recomputation.py"),
    ("recompute.values", "Values computed", "values",
     "Products, or other values, that a statement computes: in this schedule, and as a region of "
     "its own (needed).", "results of the statement's nodes that compute, over the whole run",
     "fuseloom/dataflow/why/recomputation.py"),
    ("recompute.rows", "Rows computed", "rows",
     "The same in rows of the intermediate, where all rows have as many values.",
     "values computed / values of a row", "fuseloom/dataflow/why/recomputation.py"),
    ("orders.legal", "Legal orders", "orders",
     "In how many ways the indices of the region can be nested.",
     "linear extensions of the partial order graph, counted exactly",
     "FuseFlow §5; fuseloom/dataflow/fusion/pog.py"),
    ("orders.graphs", "Distinct graphs", "classes of orders",
     "Orders that give the same dataflow graph count once; 40 are estimated.",
     "legal orders / orders with the same graph",
     "docs/exploration.md § What is searched; fuseloom_workbench/orders/view.py"),
    ("factor.best", "Factor to the best order", "times (×)",
     "How many times as long this order is expected to take as the best one listed.",
     "estimated cycles of this order / of the best", "FuseFlow §8.8"),
    ("promise.estimated", "Promise of a change", "cycles of the machine",
     "What the design is expected to take after this change, which was compiled and estimated.",
     "estimated cycles with the change; held if a run takes no more than the upper end of its "
     "interval", f"{_WHY}; fuseloom/dataflow/why/promises.py"),
    ("promise.bound", "At least, whatever happens", "cycles of the machine",
     "Cycles that no run with this change is below: proven.",
     "≥ recurrence with everything as early as it may be; a node twice as fast: cycles now − half "
     "of its own cycles on the critical path",
     "docs/estimate.md § When a region is done; fuseloom/dataflow/why/promises.py"),
    ("promise.saved", "Saves", "%", "Which part of the cycles now a change is expected to save.",
     "1 − estimated cycles with it / cycles now", _WHY),
    ("cause", "Why it takes its cycles", "cycles; times; bytes",
     "The cause with the most cycles: what is computed again, a wait for memory or room, or the "
     "node that sets the pace; then what comes with it.",
     "cycles of the critical path by cause; values computed / needed; bytes here and unfused",
     f"{_WHY}; fuseloom/dataflow/why/answer.py"),
    ("nodes", "Nodes of the graph", "nodes",
     "Primitives in the dataflow graph of a region, as compiled.", "nodes after all passes",
     "FuseFlow §6.2; docs/passes.md § The table of passes"),
    ("input.size", "Size of the input", "elements; share of elements",
     "Sizes of indices, numbers of nodes and edges, and densities of what is computed on.",
     "density = stored elements (nnz) / product of the sizes; sparsity = 1 − density",
     "docs/models.md § Graphs; FuseFlow §8.1"),
    ("machine.parameter", "Parameter of the machine", "as beside the field",
     "What the simulator takes for this machine; a tooltip says what each one means.",
     "given: a preset, or your own", "docs/simulator.md § Machines"),
    ("machine.capacity", "Channel capacity", "tokens",
     "How many tokens a channel holds before the node that puts them must wait.",
     "given; where no data may deadlock, at least what the graph needs",
     "docs/passes.md § Channel sizes"),
)  # fmt: skip

_NODES: tuple[Row, ...] = (
    ("node.busy", "Busy", "cycles; % of the elapsed cycles",
     "Cycles of a node's own work; estimated: the steps that it has to take.",
     "clock at its end − cycles waiting for input, space and memory; share: / cycles of the region",
     f"{_TELLS}; fuseloom/dataflow/sim/result.py"),
    ("node.waits", "Waiting, by cause", "cycles",
     "Cycles in which a node could not work: no token at an input, no space in a channel it puts "
     "into, or no answer of the memory.",
     "cycles of its clock that are no work, each booked on one cause",
     f"{_TELLS}; fuseloom/dataflow/sim/result.py"),
    ("node.idle", "Idle", "cycles", "Cycles of the region after a node has ended.",
     "cycles of the region − clock at the node's end", "fuseloom/dataflow/sim/observe.py"),
    ("tokens", "Tokens", "tokens",
     "Coordinates, references, values and stops that pass through a stream or a port.",
     "count of tokens put (or taken); busiest port: the most of any output, of a writer any input",
     f"FuseFlow §2; {_TELLS}"),
    ("path.cycles", "On the critical path", "cycles; % of the path",
     "Cycles of the chain of work and waits that determines the last cycle; the parts of a run "
     "add up to its cycles.", "sum of the pieces of the path by node and cause",
     f"{_TELLS}; fuseloom/dataflow/sim/explain/critical.py"),
    ("path.gain", "Saves at most", "cycles",
     "What making one node twice as fast can save, at most; the rest the run takes at least.",
     "half of the node's own cycles on the critical path",
     "fuseloom/dataflow/sim/explain/critical.py"),
    ("path.pieces", "Pieces of the path", "pieces",
     "How many separate pieces of the critical path this row adds up.",
     "count of pieces of one node and cause", "fuseloom/dataflow/sim/explain/critical.py"),
    ("channel.filling", "Filling of a channel", "tokens",
     "How many tokens lie in a channel: the mean over the run, the most at once, and its room.",
     "mean: sum over cycles of tokens in it / cycles", _TELLS),
    ("timeline.window", "Window of the timeline", "cycles",
     "What is shown of the run, and how finely: exact per column, or per bin where no events were "
     "kept.", "cycles from 0, regions one after another; width of a column = cycles / columns",
     "docs/workbench.md § Timeline"),
    ("area.busy", "Busy in the area", "% of the cycles",
     "Least, mean and most of the share in which a node works, over cells of a node and some "
     "cycles.", "busy cycles of a cell / its cycles (per)",
     "docs/workbench.md § Timeline; fuseloom/dataflow/sim/events/windows.py"),
    ("area.tokens", "Tokens per cycle", "tokens per cycle",
     "Least, mean and most of the tokens that a node puts in a cycle.",
     "tokens put in a cell / its cycles (per)",
     "docs/workbench.md § Timeline; fuseloom/dataflow/sim/events/windows.py"),
    ("streams.cycle", "Cycle", "cycles since the region began",
     "The moment of the run that is shown.", "clock of the region, from 0", _TELLS),
    ("streams.held", "Held by a channel", "tokens; places",
     "Tokens that lie in this channel at the cycle shown, of the places that it has.",
     "tokens put until then − tokens taken until then", "fuseloom_workbench/streams/recording.js"),
)  # fmt: skip

_MEMORY: tuple[Row, ...] = (
    ("memory.bandwidth", "Achieved bandwidth", "GB/s (10⁹ bytes per second)",
     "What the memory moved in a second of the region's run, over all channels or of one.",
     "bytes moved / time; share of the peak: / peak bandwidth",
     f"{_STATS}; docs/simulator.md § Machines"),
    ("memory.hits", "Row hits", "% of the accesses",
     "Accesses that found the row of their bank open.",
     "hits / (hits + misses + conflicts)", _STATS),
    ("memory.latency", "Latency of the memory", "cycles of the machine",
     "From a request to its answer, by the mean; the plot counts requests by it.",
     "sum over requests of (cycle of the answer − cycle of the request) / requests", _STATS),
    ("memory.requests", "Requests", "requests", "Reads and writes that the memory answered.",
     "count", _STATS),
    ("memory.moved", "Bytes that the memory moved", "B (bytes)",
     "Whole accesses, so more than what was asked for where requests are smaller.",
     "accesses × bytes of an access", _STATS),
    ("memory.time", "Time", "µs", "How long the region takes on a clock.",
     "cycles / cycles per second of the machine", _STATS),
)  # fmt: skip

_FOUND: tuple[Row, ...] = (
    ("search.objective", "Objective of a search", "cycles; s; J; J·s; LUTs",
     "What is to be small, among schedules that keep the budgets and the rules.",
     "cycles; time = cycles / clock; energy; energy × time; area of the largest region",
     "docs/codesign.md § What it costs; docs/codesign.md § Options"),
    ("search.best", "Best so far", "cycles of the machine, or the unit of the objective",
     "The fewest cycles, or the least of another objective, of any schedule that the search has "
     "simulated.", "min over simulated schedules of the sum over their regions; of areas the max",
     f"{_SEARCH}; docs/exploration.md § How good it is"),
    ("search.bound", "Bound", "cycles of the machine, or the unit of the objective",
     "What no schedule of the space that keeps budgets and rules is below: proven.",
     "shortest way through the places of the program, with the lower bound of each region",
     _PROVED),
    ("search.gap", "Gap", "%",
     "By how much, at most, another schedule of the space could be better.",
     "1 − bound / objective of the best", f"{_PROVED}; fuseloom/exploration/certificate.py"),
    ("search.space", "Size of the space", "schedules",
     "How many legal schedules are searched.",
     "sum over ways to cut of the product over regions of orders × formats of look-ups × lanes × "
     "copies", "docs/exploration.md § What is searched; FuseFlow §8.1"),
    ("search.ways", "Candidates of regions", "candidates",
     "Candidates for executing some statements as one region, by what became of them; one that "
     "falls takes every schedule along that has it.",
     "count, by the rule or the number that removed them",
     "docs/exploration.md § What is proved; fuseloom_workbench/search/story.py"),
    ("search.effort", "Effort of a search", "seconds; simulated regions",
     "When something was found, or when the search is to end.",
     "wall time since its start; runs of single regions", _SEARCH),
    ("search.verdict", "Against the best", "cycles of the machine",
     "What is proved, expected or measured of a schedule, beside the best that is known.",
     "lower bound ≤ simulated cycles; a schedule falls by the first above the best", _SEARCH),
)  # fmt: skip

_COMPARED: tuple[Row, ...] = (
    ("systems.kernels", "Kernels of a scheme", "kernels",
     "What runs one after another: regions of the dataflow machine, loop nests, calls of the "
     "array, calls of NumPy, or kernels with calls of libraries.",
     "count over the whole program; of tiles, every call", _SYSTEMS),
    ("systems.between", "Bytes between kernels", "B (bytes)",
     "Bytes of intermediates that memory holds between kernels; of calls in tiles, those of a "
     "tile.", "sum over intermediates that are written of their bytes, as the system stores them",
     _SYSTEMS),
    ("systems.recompute", "Recompute factor", "times (×)",
     "How many times the arithmetic of the same system without fusion a scheme takes.",
     "FLOPs of the scheme / FLOPs of the system's unfused scheme", _SYSTEMS),
    ("systems.flops", "FLOPs of a scheme", "floating-point operations",
     "Arithmetic as the system does it: sparse ones on what is stored, dense ones on every "
     "element.",
     "additions, multiplications and functions; a product of n factors with its sum is n",
     _SYSTEMS),
    ("systems.predicted", "Predicted by a model of costs", "cycles; s (seconds)",
     "What the system's own model of costs expects, in cycles of the machine that it is of, or in "
     "seconds on this processor.",
     "the estimate of the dataflow machine; the model of loop nests; the cycles of the array's "
     "calls", _SYSTEMS),
    ("systems.measured", "Measured by the clock", "s (seconds)",
     "How long it takes on the processor of this server; of right results only.",
     "median of five runs in turns", _SYSTEMS),
)  # fmt: skip

ROWS: tuple[Row, ...] = (*_RUNS, *_WORK, *_DESIGN, *_NODES, *_MEMORY, *_FOUND, *_COMPARED)
"""All of them, in the order in which they are listed."""
