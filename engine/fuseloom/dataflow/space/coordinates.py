"""The coordinates of what statements compute, found out when somebody needs them."""

from __future__ import annotations

from collections.abc import Sequence

from fuseloom.dataflow.cost.estimate import EstimateContext, estimate_region
from fuseloom.dataflow.cost.exact.patterns import UnknownError
from fuseloom.dataflow.space.candidates import RegionCandidates
from fuseloom.dataflow.space.contents import Contents
from fuseloom.errors import FuseloomError
from fuseloom.program.types import Program


class Coordinates:
    """Finds out the coordinates of tensors, from what statements alone write.

    Of tensors with the same content once; what is too large to be executed follows from its
    definition, or is expected from samples.
    """

    def __init__(
        self,
        program: Program,
        context: EstimateContext,
        candidates: RegionCandidates,
        contents: Contents,
    ) -> None:
        self.context = context
        self.candidates = candidates
        self.contents = contents
        self._statements = {s.out.tensor: s for s in program.live}
        self._looked: set[str] = set()

    def find(self, names: Sequence[str]) -> None:
        """Let it be known of some tensors, and of all that they are computed from."""
        todo = [name for name in reversed(names) if name in self._statements]
        while todo:
            name = todo[-1]
            if name in self._looked or self._noted(name):
                todo.pop()
                continue
            statement = self._statements[name]
            first = [a.tensor for a in statement.operands if a.tensor in self._statements]
            if missing := [n for n in first if n not in self._looked and not self._noted(n)]:
                todo += missing
                continue
            todo.pop()
            self._looked.add(name)
            if not statement.op.fuses or self.contents.shared(name, self.context):
                continue
            try:
                estimate_region(self.candidates.first((statement,)), self.context)
                if not self.context.patterns.knows(name):
                    self.context.make_up(name)
            except (FuseloomError, UnknownError):
                continue

    def _noted(self, name: str) -> bool:
        patterns = self.context.patterns
        if patterns.knows(name) or name in self.context.expected or name in patterns.made_up:
            return True
        statement = self._statements[name]
        source = statement.operands[0].tensor
        return not statement.op.fuses and (source not in self._statements or self._noted(source))
