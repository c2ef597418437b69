"""Executors: who carries out jobs, in this process or in worker processes, all in the same way.

::

    with LocalProcesses(workers=2) as executor:
        keep_runs(store, executor, tasks)   # claims, runs and keeps each, once
"""

from fuseloom.exploration.executors.drive import Summary, Task, keep_runs
from fuseloom.exploration.executors.in_process import InProcess
from fuseloom.exploration.executors.job import Answer, Executor, Fate, Job, JobLimits, Progress
from fuseloom.exploration.executors.local import LocalProcesses

__all__ = [
    "Answer",
    "Executor",
    "Fate",
    "InProcess",
    "Job",
    "JobLimits",
    "LocalProcesses",
    "Progress",
    "Summary",
    "Task",
    "keep_runs",
]
