"""Setting up a notebook, so that components show without a network."""

from __future__ import annotations

THEMES = "".join(
    f'[data-jp-theme-light="{light}"] .jp-OutputArea-output {{color-scheme: {scheme}}}'
    for light, scheme in (("true", "light"), ("false", "dark"))
)
"""Components take their colours by the scheme around them, which JupyterLab does not say."""


def notebook() -> None:
    """Load Panel's scripts into the notebook itself instead of asking a server for them.

    Call it once, before the first component; see ``notebooks/``.

    Examples
    --------
    >>> from fuseloom_workbench.notebook import notebook
    >>> notebook()
    """
    import panel as pn

    from fuseloom_workbench.base.comms import hold_until_shown

    pn.extension(inline=True)
    hold_until_shown()
    try:
        from IPython import get_ipython
        from IPython.display import HTML, display
    except ImportError:
        return
    if get_ipython() is not None:
        display(HTML(f"<style>{THEMES}</style>"))
