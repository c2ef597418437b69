"""The result of an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from fuseloom.frontends.mlir.blocks import StoredBlocks, with_blocks
from fuseloom.frontends.mlir.lookups import Lookup, bound, drawn
from fuseloom.program import Program, StoredTensor, check_data
from fuseloom.wording import counted, described


@dataclass(frozen=True, eq=False)
class ImportedMlir:
    """An MLIR file as a program.

    Attributes
    ----------
    program : Program
        The operations that a returned value needs, of all functions in the order of the file;
        called functions stand where they are called.
    schedule : str
        One region per function, cut at reshapes.  Maps declare their dimensions in the dataflow
        order of their statement; where that is not the order in which the statement reads
        anyway, the schedule asks for it.
    data : mapping
        Inputs that the file holds as ``dense<...>``.
    arguments : mapping
        Input to the function and the number of the argument it is.
    resources : mapping
        Input to the ``dense_resource`` whose data are elsewhere.
    notes : tuple of str
        What differs from what the file says: storage that formats have no counterpart of, numbers
        that are not checked, operations that act on stored elements only, and what was left out.
    lookups : tuple of Lookup
        Inputs that follow from index tensors; ``bind`` makes them.
    indices : mapping
        Shapes of the index tensors that are to be given, by name.
    blocks : mapping
        Inputs whose encodings store elements in blocks; ``bind`` adds the zeros of the blocks.
    unread : tuple of str
        Arguments of the file that no result needs; data for them are taken, and left out.
    """

    program: Program
    schedule: str
    data: Mapping[str, StoredTensor]
    arguments: Mapping[str, tuple[str, int]]
    resources: Mapping[str, str]
    notes: tuple[str, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    indices: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    blocks: Mapping[str, StoredBlocks] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.program.name}: "
            f"{counted(len(self.program.statements), 'statement')}, "
            f"{counted(len(self.notes), 'note')}",
        )

    @property
    def wanted(self) -> tuple[str, ...]:
        """The inputs to be supplied: those whose data the file does not hold, and index tensors."""
        read = [x for x in self.lookups if x.tensor.name in self.program.inputs]
        open_ = [x for x in read if x.tensor.name not in self.data]
        made = {x.tensor.name for x in open_}
        given = [n for n in self.program.given if n not in self.data and n not in made]
        places = [n for n in self.indices if any(n in x.indices for x in open_)]
        return tuple(dict.fromkeys([*given, *places]))

    def bind(self, tensors: Mapping[str, Any]) -> ImportedMlir:
        """The same program with data, among them what index tensors select.

        Parameters
        ----------
        tensors : mapping
            Arrays by name: index tensors, and any inputs of the program.  Those of arguments that
            no result needs are left out.

        Raises
        ------
        DataError
            Names that are unknown, index tensors of other shapes, or places outside of a table.

        Examples
        --------
        >>> from fuseloom.frontends.mlir import from_mlir
        >>> imported = from_mlir('''
        ... #rows = affine_map<(d0, d1) -> (d0)>
        ... #all = affine_map<(d0, d1) -> (d0, d1)>
        ... func.func @main(%ids: tensor<2xi64>, %table: tensor<9x3xf32>) -> tensor<2x3xf32> {
        ...   %0 = tensor.empty() : tensor<2x3xf32>
        ...   %y = linalg.generic {indexing_maps = [#rows, #all],
        ...       iterator_types = ["parallel", "parallel"]}
        ...     ins(%ids : tensor<2xi64>) outs(%0 : tensor<2x3xf32>) {
        ...   ^bb0(%id: i64, %out: f32):
        ...     %i = arith.index_cast %id : i64 to index
        ...     %j = linalg.index 1 : index
        ...     %x = tensor.extract %table[%i, %j] : tensor<9x3xf32>
        ...     linalg.yield %x : f32
        ...   } -> tensor<2x3xf32>
        ...   return %y : tensor<2x3xf32>
        ... }''')
        >>> imported.wanted, imported.program.inputs
        (('table', 'ids'), ('table', 'ids_at'))
        >>> imported.bind({"ids": [7, 0]}).data["ids_at"].to_coo()[0].tolist()
        [[0, 7], [1, 0]]
        """
        read = self.supplied(tensors)
        found = bound(self.program, self.lookups, self.indices, read)
        given = {**self.data, **found}
        besides = [name for name in self.program.given if name not in given]
        stored = check_data(self.program, given, besides)
        return replace(self, data=MappingProxyType({n: stored[n] for n in given}))

    def supplied(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        """Return data without those that nothing reads, and with the zeros of blocks.

        Raises
        ------
        DataError
            Data that contradict their declaration.
        """
        needed = (*self.program.inputs, *self.indices)
        left = [name for name in self.unread if name not in needed]
        return {
            name: with_blocks(self.program.tensor(name), given, self.blocks[name])
            if name in self.blocks and name in self.program.inputs
            else given
            for name, given in tensors.items()
            if name not in left
        }

    def drawn(self, seed: int = 0) -> Mapping[str, Any]:
        """Random index tensors by name, of places that all tables have."""
        return drawn(self.lookups, self.indices, seed)
