"""The run store: every run that was kept, once, in one file that several processes may use.

::

    store = RunStore()
    lease = store.claim(identity, label)   # None: it is there, or somebody is at it
    store.finish(lease, Outcome.of(record))
    store.frame()                          # what is there, for pandas
"""

from fuseloom.exploration.store.identity import RunIdentity, data_hash, engine_version
from fuseloom.exploration.store.lease import Holder
from fuseloom.exploration.store.location import default_path
from fuseloom.exploration.store.reader import Alike, RunReader, Subject
from fuseloom.exploration.store.runs import Lease, Outcome, RunLabel, State, StoredRun
from fuseloom.exploration.store.store import CollectedGarbage, RunStore

__all__ = [
    "Alike",
    "CollectedGarbage",
    "Holder",
    "Lease",
    "Outcome",
    "RunIdentity",
    "RunLabel",
    "RunReader",
    "RunStore",
    "State",
    "StoredRun",
    "Subject",
    "data_hash",
    "default_path",
    "engine_version",
]
