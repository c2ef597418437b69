"""The language in which a call says what it needs: its grammar, reader and printer."""
