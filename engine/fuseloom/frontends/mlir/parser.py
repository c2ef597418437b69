"""From MLIR text to syntax trees: modules and functions."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.errors import FuseloomError, ParseError
from fuseloom.frontends.mlir.attributes import Reader
from fuseloom.frontends.mlir.cursor import Cursor, generic_form, refuse
from fuseloom.frontends.mlir.operations import read_operation
from fuseloom.frontends.mlir.scalars import read_argument
from fuseloom.frontends.mlir.syntax import WHERE, Argument, File, Function, Operation
from fuseloom.program.limits import MAX_NESTING
from fuseloom.program.syntax import SourcePlace


def parse_file(text: str, line: int = 1) -> File:
    """Read MLIR text, whose lines count from ``line``.

    Functions that cannot be read say so, and so do aliases.

    Raises
    ------
    ParseError
        The text around functions does not follow the grammar of the subset.
    """
    return _FileParser(Cursor(text, line)).file()


class _FileParser:
    """Modules and functions at a cursor; ``left`` tells what is skipped."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.reader = Reader(cursor)
        self.name: str | None = None
        self.settings: list[tuple[str, str, SourcePlace]] = []
        self.functions: list[Function] = []
        self.left: list[FuseloomError] = []
        self._defined: set[str] = set()

    # Files.

    def file(self) -> File:
        self._items(0)
        values = [*self.reader.aliases.values(), *self.reader.types.values(), *self.left]
        problem = next((x for x in values if isinstance(x, FuseloomError)), None)
        return File(self.name, tuple(self.settings), tuple(self.functions), problem)

    def _items(self, depth: int) -> None:
        """Aliases, modules and functions, up to the end of the text or of a module."""
        cursor = self.cursor
        while cursor.token.kind != "end" and not (depth and cursor.sees("}")):
            token = cursor.token
            if token.kind in ("hash", "type"):
                self.reader.alias()
            elif cursor.sees("module", "builtin.module"):
                self._module(depth)
            elif cursor.sees("func.func", "func"):
                self._function()
            elif cursor.sees("ml_program.global"):
                line = token.place[0]
                while cursor.token.kind != "end" and cursor.place[0] == line:
                    cursor.advance()
            elif token.kind == "string":
                raise generic_form(token.place)
            elif token.kind == "word" and "." in token.text:
                self._foreign_item()
            else:
                raise cursor.unexpected("module, func.func or an alias '#name = ...'")

    def _foreign_item(self) -> None:
        """Skip what other dialects define: sequences of transforms, functions of other kinds."""
        cursor = self.cursor
        name = cursor.advance()
        problem = refuse(
            f"{name.text} is no function of tensors", "give func.func; the rest is left out",
            name.place,
        )  # fmt: skip
        self.left.append(problem)
        cursor.skip_item()

    def _module(self, depth: int) -> None:
        cursor = self.cursor
        start = cursor.advance()
        if depth == MAX_NESTING:
            raise refuse(f"modules are nested more than {depth} deep", "one is enough", start.place)
        if cursor.token.kind == "symbol":
            name = cursor.advance().text[1:].strip('"')
            self.name = self.name or name
        if cursor.take("attributes"):
            self.settings += self._strings()
        cursor.need("{")
        self._items(depth + 1)
        cursor.need("}", "a function, or '}' at the end of the module")
        cursor.skip_location()

    def _strings(self) -> list[tuple[str, str, SourcePlace]]:
        """Attributes of a dictionary that have a string for a value, with their places."""
        cursor = self.cursor
        found: list[tuple[str, str, SourcePlace]] = []
        for key in cursor.entries():
            if cursor.token.kind == "string":
                found.append((key.text.strip('"'), cursor.token.text[1:-1], cursor.place))
            cursor.skip_value()
        return found

    # Functions.

    def _function(self) -> None:
        cursor = self.cursor
        cursor.advance()
        cursor.take("private", "public", "nested")
        symbol = cursor.kind("symbol", "the function's name, e.g. @main")
        name = symbol.text[1:].strip('"')
        if name in self._defined:
            raise refuse(f"function @{name} is defined twice", "remove one of them", symbol.place)
        self._defined.add(name)
        start = cursor.at
        try:
            made = self._defined_function(name, symbol.place)
        except ParseError as problem:  # an error only where the function is needed
            cursor.at = start
            cursor.skip_item()
            made = Function(name, (), None, symbol.place, problem)
        self.functions.append(made)

    def _defined_function(self, name: str, place: SourcePlace) -> Function:
        cursor = self.cursor
        cursor.need("(")
        arguments: list[Argument] = []
        unnamed: list[SourcePlace] = []
        for _ in cursor.listed(")"):
            if cursor.token.kind == "ssa":
                argument = read_argument(self.reader)
                told = {key: text for key, text, _ in self._strings()} if cursor.sees("{") else {}
                arguments.append(replace(argument, where=told.get(WHERE)))
            else:
                unnamed.append(cursor.place)
                cursor.skip_value()
                cursor.skip_dictionary()
            cursor.skip_location()
        if cursor.take("->"):
            self.reader.result_types()
        if cursor.take("attributes"):
            cursor.skip_dictionary()
        operations = None
        if cursor.sees("{"):
            if unnamed:
                raise refuse("an argument has no name", "write %name: type", unnamed[0])
            operations = self._operations()
        cursor.skip_location()
        return Function(name, tuple(arguments), operations, place)

    def _operations(self) -> tuple[Operation, ...]:
        cursor = self.cursor
        cursor.need("{")
        found: list[Operation] = []
        while not cursor.take("}"):
            if cursor.token.kind == "end":
                raise cursor.unexpected("an operation, or '}' at the end of the function")
            if cursor.token.kind == "block":
                raise refuse(
                    "a function of several blocks",
                    "control flow is outside the subset",
                    cursor.place,
                )
            found.append(read_operation(self.reader))
        return tuple(found)
