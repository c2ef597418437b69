"""The workers of pages: separate processes, within limits, so that the server never computes.

* The *fork server* is a process that has loaded the engine and forks what is needed, in
  milliseconds.
* A *session worker* is a process that holds one page's session: it carries out requests one after
  another, and answers with the parts of the page that changed, all of one version.  Drawing and
  ranking, which come later, run in children of it, so that a newer request ends them.
* A *runner* simulates; it is forked by a session worker, with the design as it is then, and
  outlives it.
* The *hub* is a thread of the server with an event loop of its own: it moves messages, keeps the
  time, and ends what takes too long.  A *client* of it stands for one page.

All talk over sockets (:mod:`fuseloom_workbench.service.wire`); what the server reads is JSON.
"""
