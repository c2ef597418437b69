"""Objects that hold tensors, as arguments of ``forward``: what they hold becomes inputs.

PyTorch looks into tuples, lists and dictionaries only.  A graph of PyTorch Geometric, a dataclass
or a namespace is one leaf to it, whose tensors a trace takes for constants; so the classes of such
objects are registered with PyTorch's own trees as they come.
"""

from __future__ import annotations

import copy
import numbers
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from fuseloom.errors import DataError
from fuseloom.frontends.torch.capture import load_torch

_PLAIN = (str, bytes, numbers.Number, Enum, type)


@dataclass(frozen=True)
class _Shell:
    """An object without its tensors; two of one class with the same names are alike."""

    kind: type
    names: tuple[str, ...]
    rest: Any = field(compare=False, repr=False)

    def filled(self, held: Iterable[Any]) -> Any:
        """The object with these in the places of its tensors."""
        made = copy.copy(self.rest)
        for name, value in zip(self.names, held, strict=True):
            object.__setattr__(made, name, value)
        return made


def _holding(given: Any) -> dict[str, Any]:
    """The attributes of an object in which there are tensors."""
    return {name: held for name, held in _attributes(given).items() if _holds(held, ())}


def _attributes(given: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots among them."""
    slots = [name for kind in type(given).__mro__ for name in _slots(kind) if hasattr(given, name)]
    return {**{name: getattr(given, name) for name in slots}, **getattr(given, "__dict__", {})}


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if not name.startswith("__"))


def _holds(given: Any, around: tuple[int, ...]) -> bool:
    """Return whether something is a tensor, or has one in it."""
    torch = load_torch()
    if isinstance(given, torch.Tensor):
        return True
    if given is None or isinstance(given, _PLAIN) or id(given) in around:
        return False
    inside = (*around, id(given))
    if isinstance(given, dict):
        return any(_holds(held, inside) for held in given.values())
    if isinstance(given, tuple | list | set | frozenset):
        return any(_holds(held, inside) for held in given)
    if isinstance(given, torch.nn.Module):
        return False
    return any(_holds(held, inside) for held in _attributes(given).values())


def open_objects(inputs: Any) -> None:
    """Have PyTorch look into the objects among inputs that hold tensors.

    The registration of a class lasts as long as the process.

    Raises
    ------
    DataError
        An object holds tensors where they cannot be replaced.
    """
    tree = load_torch().utils._pytree
    known: set[type] = set()
    while closed := [leaf for leaf in tree.tree_leaves(inputs) if _closed(leaf)]:
        for kind in dict.fromkeys(map(type, closed)):
            if kind in known:
                raise _refused(kind)
            known.add(kind)
            _register(kind)


def _closed(leaf: Any) -> bool:
    return not isinstance(leaf, load_torch().Tensor) and _holds(leaf, ())


def _register(kind: type) -> None:
    """Register a class of objects with PyTorch's trees."""
    tree = load_torch().utils._pytree
    if issubclass(kind, set | frozenset):
        raise _refused(kind)

    def flatten(given: Any) -> tuple[list[Any], _Shell]:
        held = _holding(given)
        return list(held.values()), _Shell(kind, tuple(held), given)

    def flatten_with_keys(given: Any) -> tuple[list[tuple[Any, Any]], _Shell]:
        held, shell = flatten(given)
        return [(tree.GetAttrKey(n), h) for n, h in zip(shell.names, held, strict=True)], shell

    def unflatten(held: Iterable[Any], shell: _Shell) -> Any:
        return shell.filled(held)

    tree.register_pytree_node(
        kind,
        flatten,
        unflatten,
        serialized_type_name=f"{kind.__module__}.{kind.__qualname__}",
        flatten_with_keys_fn=flatten_with_keys,
    )


def _refused(kind: type) -> DataError:
    return DataError(
        f"an input is a {kind.__name__} that holds tensors where they cannot be told apart",
        hint="give the tensors themselves, or in a tuple, list, dictionary or dataclass",
    )
