"""HLO text: reading modules as JAX and XLA print them, and printing them."""

from fuseloom.stitch.hlo.attributes import WindowDimension, called
from fuseloom.stitch.hlo.printer import print_hlo
from fuseloom.stitch.hlo.reader import read_hlo

__all__ = ["WindowDimension", "called", "print_hlo", "read_hlo"]
