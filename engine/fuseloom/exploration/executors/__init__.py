"""Executors: who carries out jobs, in this process or in worker processes, all in the same way.

::

    with LocalProcesses(workers=2) as executor:
        keep_runs(store, executor, tasks)   # claims, runs and keeps each, once
"""

from fuseloom.exploration.executors.drive import Summary, Task, keep_runs
from fuseloom.exploration.executors.in_process import InProcess
from fuseloom.exploration.executors.job import (
    Executor,
    Job,
    JobLimits,
    JobResult,
    JobStatus,
    Progress,
)
from fuseloom.exploration.executors.local import LocalProcesses

__all__ = [
    "Executor",
    "InProcess",
    "Job",
    "JobLimits",
    "JobResult",
    "JobStatus",
    "LocalProcesses",
    "Progress",
    "Summary",
    "Task",
    "keep_runs",
]
