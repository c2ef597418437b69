"""Calls replaced by the operations of what they call, as XLA does before it fuses."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.errors import ProgramError
from fuseloom.program.primes import numbered
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation


def inline_calls(module: DenseModule) -> DenseModule:
    """Replace each ``call`` by the operations of the computation that it calls.

    An operation of a call is named after both.  Parts of tuples are read from what the tuple was
    made of, where that is known, and tuples that nothing reads any more are left out.

    Raises
    ------
    ProgramError
        If a call has another number of operands than its computation has parameters.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", (4,))
    >>> x = DenseOperation("x", "parameter", shape)
    >>> half = DenseComputation("half", (x, DenseOperation("y", "negate", shape, ("x",))), "y")
    >>> call = DenseOperation("c", "call", shape, ("x",), {"to_apply": "half"})
    >>> main = DenseComputation("main", (x, call, DenseOperation("z", "abs", shape, ("c",))), "z")
    >>> made = inline_calls(DenseModule("m", {"half": half, "main": main}, "main"))
    >>> [str(one) for one in made.main.operations[1:]]
    ['c.y = f32[4] negate(x)', 'z = f32[4] abs(c.y)']
    """
    done: dict[str, DenseComputation] = {}
    for name, computation in module.computations.items():
        done[name] = _Inliner(computation, done).inlined()
    return replace(module, computations=done)


class _Inliner:
    def __init__(self, computation: DenseComputation, done: dict[str, DenseComputation]) -> None:
        self.computation = computation
        self.done = done
        self.taken = {one.name for one in computation.operations}
        self.made: dict[str, DenseOperation] = {}
        self.names: dict[str, str] = {}  # per operation that was there, what stands for its value

    def inlined(self) -> DenseComputation:
        """The computation without calls."""
        if all(
            one.opcode not in ("call", "get-tuple-element") for one in self.computation.operations
        ):
            return self.computation
        for operation in self.computation.operations:
            read = tuple(self.names[name] for name in operation.operands)
            moved = replace(operation, operands=read)
            if operation.opcode == "call":
                self.names[operation.name] = self._body(moved)
            else:
                self.names[operation.name] = self._placed(moved)
        root = self.names[self.computation.root]
        return DenseComputation(self.computation.name, self._live(root), root)

    def _placed(self, operation: DenseOperation) -> str:
        """Put an operation in, unless what it reads a part of is known."""
        if operation.opcode == "get-tuple-element":
            whole = self.made[operation.operands[0]]
            if whole.opcode == "tuple":
                return whole.operands[int(operation.attributes["index"])]
        self.made[operation.name] = operation
        return operation.name

    def _body(self, call: DenseOperation) -> str:
        body = self.done[call.attributes["to_apply"]]
        if len(body.parameters) != len(call.operands):
            raise ProgramError(
                f"{call.name} calls {body.name}, which has {len(body.parameters)} parameters, with "
                f"{len(call.operands)} operands"
            )
        names = {
            one.name: given for one, given in zip(body.parameters, call.operands, strict=True)
        }  # fmt: skip
        for operation in body.operations:
            if operation.name in names:
                continue
            read = tuple(names[name] for name in operation.operands)
            fresh = self._fresh(f"{call.name}.{operation.name}")
            names[operation.name] = self._placed(replace(operation, name=fresh, operands=read))
        return names[body.root]

    def _fresh(self, wanted: str) -> str:
        name = numbered(wanted, self.taken, ".")
        self.taken.add(name)
        return name

    def _live(self, root: str) -> tuple[DenseOperation, ...]:
        """All operations but tuples, and parts of them, that nothing reads any more."""
        read = {root}
        kept: list[DenseOperation] = []
        for operation in reversed(self.made.values()):
            if operation.opcode in ("tuple", "get-tuple-element") and operation.name not in read:
                continue
            read |= {*operation.operands}
            kept.append(operation)
        return tuple(reversed(kept))
