"""The primitives, family by family: each with all that is known of it in one folder.

=============== ==============================================================================
``entries``     What goes in and out, how deep it nests, what it costs, and its traits
``golden``      The executable specification: which tokens it takes and puts, and when
``kernels``     The compiled kernels, equal to the golden models token by token
``expected``    The expected contents of its outputs, for estimates from statistics
``exact``       Its execution on coordinates, for exact estimates
``narration``   What it did in a cycle, in words
=============== ==============================================================================

A second module of a part has its name behind an underscore: ``search_kernels``.  Nothing outside
imports a family's modules: the catalogue collects the entries, and the
:class:`~fuseloom.dataflow.samml.registry.Registry` of each other part collects what is registered
in them.
"""

# Entries import samml, which collects all of them: so that comes first, whatever is imported.
import fuseloom.dataflow.samml.catalogue  # noqa: F401
