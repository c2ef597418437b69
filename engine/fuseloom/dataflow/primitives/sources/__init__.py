"""Sources of streams, and sinks."""
