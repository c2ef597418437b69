"""Setting up a notebook, so that components show without a network."""

from __future__ import annotations


def notebook() -> None:
    """Load Panel's scripts into the notebook itself instead of asking a server for them.

    Call it once, before the first component; see ``notebooks/``.
    """
    import panel as pn

    from workbench.base.comms import hold_until_shown

    pn.extension(inline=True)
    hold_until_shown()
