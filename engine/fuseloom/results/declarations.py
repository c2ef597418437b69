"""Records and documents, declared once: what is written, what is read, and its JSON Schema.

A declaration is a frozen dataclass (a :class:`Record`) or a ``TypedDict``.  The types of its fields
say what is allowed, and their descriptions are texts in ``Annotated`` or entries of the
``Attributes`` section of the docstring.  :func:`read` checks the data of others against it with
msgspec; :func:`fuseloom.results.schemas.schema` makes the JSON Schema.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from inspect import cleandoc
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec
from msgspec import Meta

from fuseloom.errors import RecordError
from fuseloom.results.document import plain

T = TypeVar("T")

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
LARGEST = sys.float_info.max
Amount = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0, le=LARGEST)]
"""A finite number that is not negative; an integer of any size stays one."""
Share = Annotated[float, Meta(ge=0, le=1)]
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Fingerprint = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]


class Record:
    """A dataclass that is a JSON object: its fields, after the properties ``derived``.

    Those follow from the fields; readers need no others, and refuse any other value of them.
    """

    derived: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> Any:
        """Plain data."""
        kind: Any = type(self)
        return {name: plain(getattr(self, name)) for name in declared(kind)}


@cache
def declared(kind: Any) -> Mapping[str, Any]:
    """The fields of a declaration and their types; derived ones come first."""
    if is_typeddict(kind):
        return get_type_hints(kind, include_extras=True)
    if not issubclass(kind, Record):  # the type of what its method gives
        return declared(get_type_hints(kind.to_dict)["return"])
    hints = get_type_hints(kind, include_extras=True)
    derived = {
        name: get_type_hints(getattr(kind, name).fget, include_extras=True)["return"]
        for name in kind.derived
    }
    return {**derived, **{f.name: hints[f.name] for f in fields(kind)}}


def descriptions(kind: Any) -> dict[str, str]:
    """What the fields of a declaration hold."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        found.update(_attributes(cleandoc(base.__doc__ or "")))
    for name, hint in declared(kind).items():
        texts = (m for m in getattr(hint, "__metadata__", ()) if isinstance(m, str))
        if text := next(texts, None):
            found[name] = text
        elif name not in found and isinstance(own := getattr(kind, name, None), property):
            found[name] = summary(own)
    return found


def summary(of: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(cleandoc(of.__doc__ or "").partition("\n\n")[0].split())


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    """The entries of a section ``Attributes``."""
    _, _, section = text.partition("\nAttributes\n----------\n")
    section = re.split(r"\n\n.+\n-+\n", section)[0]
    for names, told in re.findall(r"^(\S.*)\n((?:(?:    .*)?(?:\n|$))+)", section, re.MULTILINE):
        for name in names.partition(" : ")[0].split(", "):
            plainly = re.sub(r"``|:\w+:`[~.\w]*?(\w+)`", r"\1", " ".join(told.split()))
            yield name, re.sub(r"\bNone\b", "null", plainly)


# Reading ----------------------------------------------------------------------------------------


def read(kind: type[T], data: Any, where: str) -> T:
    """Data of others as a record or document.

    Parameters
    ----------
    where : str
        Path of the data in their document.

    Raises
    ------
    RecordError
        If a field is missing, unknown or of another type; the message has its path.
    """
    try:
        made = msgspec.convert(data, kind)
        _compare(made, data, where)
    except msgspec.ValidationError as problem:
        raise _refusal(kind, data, where, str(problem)) from None
    except RecursionError:
        raise RecordError(f"{where} is nested too deeply") from None
    return made


def _compare(made: Any, data: Any, where: str) -> None:
    """That data say what was read of them: msgspec passes over names that it does not know."""
    match made:
        case Record():
            kind: Any = type(made)
            known = declared(kind)
            _check_names(known, data, where)
            for name in known:
                if name not in kind.derived:
                    _compare(getattr(made, name), data[name], f"{where}.{name}")
                elif not _same(value := plain(getattr(made, name)), data[name]):
                    text = descriptions(kind)[name].rstrip(".")
                    why = text[:1].lower() + text[1:]
                    raise wrong(f"{where}.{name}", data[name], f"{value}, {why}")
        case tuple() if list(made) != data:
            for k, item in enumerate(made):
                _compare(item, data[k], f"{where}[{k}]")
        case list() if made != data:
            for k, item in enumerate(made):
                _compare(item, data[k], f"{where}[{k}]")
        case dict() if made != data:
            _check_names(made, data, where)
            for name, value in made.items():
                _compare(value, data[name], f"{where}.{name}")


def _same(made: Any, data: Any) -> bool:
    return bool(made == data) and isinstance(made, bool) is isinstance(data, bool)


def _check_names(known: Mapping[str, Any], data: Mapping[str, Any], where: str) -> None:
    if missing := [name for name in known if name not in data]:
        raise RecordError(f"{where} has no {missing[0]!r}")
    if unknown := [name for name in data if name not in known]:
        raise RecordError(
            f"{where} has an unknown {str(unknown[0])[:40]!r}", hint=f"known: {', '.join(known)}"
        )


_TOLD = re.compile(r"(?s)(.*?)(?: - at (`key` in )?`\$(.*)`)?")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_MISSING = re.compile(r"Object missing required field `(.*)`")


def _refusal(hint: Any, data: Any, where: str, problem: str) -> RecordError:
    """What msgspec found, with the value, its place and what the declaration wants there."""
    told = _TOLD.fullmatch(problem)
    assert told is not None
    for name, index in _STEP.findall(told[3] or ""):
        hint, *others = [kind for kind in _kinds(hint) if kind is not NoneType]
        assert not others, "a path into a union"
        inner = get_args(hint)
        if name:
            hint, key = declared(hint)[name], name
        elif index == "...":  # msgspec does not tell which
            hint = inner[1]
            key = next(k for k, value in data.items() if not _fits(value, hint))
        else:
            key = int(index)
            hint = inner[key] if get_origin(hint) is tuple and ... not in inner else inner[0]
        data = data[key]
        where += f"[{key}]" if isinstance(key, int) else f".{key}"
    if told[2]:  # a name is at fault
        hint = get_args(_kinds(hint)[0])[0]
        odd = next(key for key in data if not _fits(key, hint))
        return RecordError(f"{where} has an unknown {str(odd)[:40]!r}", hint=wanted(hint))
    if missing := _MISSING.fullmatch(told[1]):
        return RecordError(f"{where} has no {missing[1]!r}")
    return wrong(where, data, wanted(hint))


def _fits(data: Any, hint: Any) -> bool:
    try:
        msgspec.convert(data, hint)
    except msgspec.ValidationError:
        return False
    return True


def wrong(place: str, value: Any, what: str) -> RecordError:
    """The error for a value that is not what was wanted there."""
    shown = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return RecordError(f"{place} is {shown[:60]}", hint=what)


# Types ------------------------------------------------------------------------------------------


def _kinds(hint: Any) -> list[Any]:
    """The members of a union, without what only annotates them; of another type, itself."""
    if get_origin(hint) is Annotated:
        return _kinds(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return [kind for inner in get_args(hint) for kind in _kinds(inner)]
    return [hint]


_WORDS = {str: "a text", bool: "true or false", int: "an integer", float: "a number"}


def wanted(hint: Any) -> str:
    """A type in words, without what it says of null."""
    if get_origin(hint) in (Union, UnionType):
        words = dict.fromkeys(wanted(inner) for inner in get_args(hint) if inner is not NoneType)
        real = any(word.startswith("a number") for word in words)
        return " or ".join(w for w in words if not (real and w.startswith("an integer")))
    if get_origin(hint) is Annotated:
        inner, *notes = get_args(hint)
        limits = "".join(_limits(note) for note in notes if isinstance(note, Meta))
        return wanted(inner) + limits
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " or ".join(repr(member.value) for member in hint)
    if get_origin(hint) is tuple and ... not in get_args(hint):
        return f"a list of {len(get_args(hint))}"
    listed = isinstance(get_origin(hint), type) and not issubclass(get_origin(hint), Mapping)
    return _WORDS.get(hint, "a list" if listed else "an object")


def _limits(meta: Meta) -> str:
    if meta.pattern is not None:
        return f" that matches {meta.pattern}"
    if meta.gt == 0:
        return " above 0"
    if meta.ge == 0 and meta.le in (None, LARGEST):
        return " that is not negative"
    most = "" if meta.le is None else f" to {meta.le}"
    return "" if meta.ge is None else f" from {meta.ge}{most}"
