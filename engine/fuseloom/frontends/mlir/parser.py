"""From MLIR text to syntax trees: modules, functions, operations, regions."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.errors import FuseloomError, ParseError
from fuseloom.frontends.mlir.cursor import generic_form, refuse
from fuseloom.frontends.mlir.operations import OperationReader
from fuseloom.frontends.mlir.syntax import (
    WHERE,
    Argument,
    File,
    Function,
    Operation,
)
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
    return _MlirParser(text, line).file()


class _MlirParser(OperationReader):
    def __init__(self, text: str, line: int = 1) -> None:
        super().__init__(text, line)
        self.name: str | None = None
        self.settings: list[tuple[str, str, SourcePlace]] = []
        self.functions: list[Function] = []
        self.left: list[FuseloomError] = []
        self._defined: set[str] = set()

    # Files.

    def file(self) -> File:
        self._items(0)
        values = [*self.aliases.values(), *self.types.values()]
        values += self.left
        problem = next((x for x in values if isinstance(x, FuseloomError)), None)
        return File(self.name, tuple(self.settings), tuple(self.functions), problem)

    def _items(self, depth: int) -> None:
        """Aliases, modules and functions, up to the end of the text or of a module."""
        while self.token.kind != "end" and not (depth and self.sees("}")):
            token = self.token
            if token.kind in ("hash", "type"):
                self.alias()
            elif self.sees("module", "builtin.module"):
                self._module(depth)
            elif self.sees("func.func", "func"):
                self._function()
            elif self.sees("ml_program.global"):
                line = token.place[0]
                while self.token.kind != "end" and self.place[0] == line:
                    self.advance()
            elif token.kind == "string":
                raise generic_form(token.place)
            elif token.kind == "word" and "." in token.text:
                self._foreign_item()
            else:
                raise self.unexpected("module, func.func or an alias '#name = ...'")

    def _foreign_item(self) -> None:
        """Skip what other dialects define: sequences of transforms, functions of other kinds."""
        name = self.advance()
        problem = refuse(
            f"{name.text} is no function of tensors", "give func.func; the rest is left out",
            name.place,
        )  # fmt: skip
        self.left.append(problem)
        self.skip_item()

    def _module(self, depth: int) -> None:
        start = self.advance()
        if depth == MAX_NESTING:
            raise refuse(f"modules are nested more than {depth} deep", "one is enough", start.place)
        if self.token.kind == "symbol":
            name = self.advance().text[1:].strip('"')
            self.name = self.name or name
        if self.take("attributes"):
            self._settings()
        self.need("{")
        self._items(depth + 1)
        self.need("}", "a function, or '}' at the end of the module")
        self.skip_location()

    def _settings(self) -> None:
        self.settings += self._strings()

    def _strings(self) -> list[tuple[str, str, SourcePlace]]:
        """Attributes of a dictionary that have a string for a value, with their places."""
        found: list[tuple[str, str, SourcePlace]] = []
        self.need("{")
        for _ in self.listed("}"):
            if self.token.kind not in ("word", "string"):
                raise self.unexpected("the name of an attribute")
            key = self.advance().text.strip('"')
            if not self.take("="):
                continue
            if self.token.kind == "string":
                found.append((key, self.token.text[1:-1], self.place))
            self.skip_value()
        return found

    # Functions.

    def _function(self) -> None:
        self.advance()
        self.take("private", "public", "nested")
        symbol = self.kind("symbol", "the function's name, e.g. @main")
        name = symbol.text[1:].strip('"')
        if name in self._defined:
            raise refuse(f"function @{name} is defined twice", "remove one of them", symbol.place)
        self._defined.add(name)
        start = self.at
        try:
            made = self._defined_function(name, symbol.place)
        except ParseError as problem:  # an error only where the function is needed
            self.at = start
            self.skip_item()
            made = Function(name, (), None, symbol.place, problem)
        self.functions.append(made)

    def _defined_function(self, name: str, place: SourcePlace) -> Function:
        self.need("(")
        arguments: list[Argument] = []
        unnamed: list[SourcePlace] = []
        for _ in self.listed(")"):
            if self.token.kind == "ssa":
                argument = self._argument()
                told = {key: text for key, text, _ in self._strings()} if self.sees("{") else {}
                arguments.append(replace(argument, where=told.get(WHERE)))
            else:
                unnamed.append(self.place)
                self.skip_value()
                self.skip_dictionary()
            self.skip_location()
        if self.take("->"):
            self._result_types()
        if self.take("attributes"):
            self.skip_dictionary()
        operations = None
        if self.sees("{"):
            if unnamed:
                raise refuse("an argument has no name", "write %name: type", unnamed[0])
            operations = self._operations()
        self.skip_location()
        return Function(name, tuple(arguments), operations, place)

    def _operations(self) -> tuple[Operation, ...]:
        self.need("{")
        if self.token.kind == "block":
            raise refuse(
                "a function of several blocks", "control flow is outside the subset", self.place
            )
        found: list[Operation] = []
        while not self.take("}"):
            if self.token.kind == "end":
                raise self.unexpected("an operation, or '}' at the end of the function")
            if self.token.kind == "block":
                raise refuse(
                    "a function of several blocks", "control flow is outside the subset", self.place
                )
            found.append(self._operation())
        return tuple(found)
