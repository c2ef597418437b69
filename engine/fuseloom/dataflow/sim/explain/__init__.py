"""Explaining runs: takes the result of an observed run; gives what determined its cycles, who
waited for whom, what would end a deadlock, and the same as traces and plain data for views."""

__all__ = ["buffers", "causes", "critical", "data", "diagnose", "moments", "perfetto"]
