"""The protobuf schema of dataflow graphs, and the Python classes protoc made of it."""

from importlib import import_module
from typing import Any

pb: Any = import_module("fuseloom.dataflow.samml.exchange.schema.tortilla_pb2")
"""The generated classes; protobuf makes them when it is imported, so they have no static types."""
