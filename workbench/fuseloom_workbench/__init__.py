"""The workbench: session state, and components that show and edit it.

Nothing is imported here, so that worker processes can load one module without a user interface.
"""
