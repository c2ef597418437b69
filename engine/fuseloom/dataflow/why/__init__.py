"""Why a run took its cycles, and what would help.

Takes compiled regions with their estimates and the records of their runs; gives what is computed
more than once, where each cycle went, what differs between two runs, and changes with a promise.
"""
