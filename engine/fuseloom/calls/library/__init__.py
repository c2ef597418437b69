"""Ready annotations of calls that people use, with data to check them with.

Examples
--------
>>> from fuseloom.calls.library import LIBRARY
>>> print(LIBRARY["difference"].annotated.annotation)
n : Symbolic
for i in [0, out.len, n] {
  produces { out { start: i, len: n } }
  when consumes {
    a { start: i, len: n + 1 }
  }
}
"""

from fuseloom.calls.library.library_call import LibraryCall, RefusedCall
from fuseloom.calls.library.refused import REFUSED
from fuseloom.calls.library.table import LIBRARY, SUBJECTS

__all__ = ["LIBRARY", "REFUSED", "SUBJECTS", "LibraryCall", "RefusedCall"]
