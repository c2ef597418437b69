"""Programs that tie the systems together: each is in the reach of several of them."""

from __future__ import annotations

from pathlib import Path

from fuseloom.errors import ProgramError
from fuseloom.models import Model, random_data
from fuseloom.program import Program, StoredTensor, parse
from fuseloom.program.formats import suggestion

EXAMPLES = ("attention_block", "gcn_layer", "mttkrp", "conv_block", "mlp_block")
_FOLDER = Path(__file__).parent / "programs"


def example(name: str, seed: int = 0) -> tuple[Program, dict[str, StoredTensor]]:
    """Return a program by name, and the random data that the command line has for it.

    Raises
    ------
    ProgramError
        If there is none of that name.

    Examples
    --------
    >>> program, data = example("gcn_layer")
    >>> program.name, sorted(data)
    ('gcn_layer', ['A', 'W', 'X'])
    """
    path = example_path(name)
    program = parse(path.read_text(encoding="utf-8"), source=path.name)
    return program, random_data(Model(program, ()), seed)


def example_path(name: str) -> Path:
    """Return the file of a program by name.

    Raises
    ------
    ProgramError
        If there is none of that name.
    """
    if name not in EXAMPLES:
        raise ProgramError(
            f"there is no example {name[:30]!r}", hint=suggestion(name, list(EXAMPLES))
        )
    return _FOLDER / f"{name}.loom"
