"""Files of a GPU job: what runs it, and the functions that it calls; nothing here is imported."""
