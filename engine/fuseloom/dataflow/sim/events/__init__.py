"""Every wait of a run, in a file: written while it runs, asked for any window of its cycles."""

__all__ = ["files", "spool", "store", "trace", "windows"]
