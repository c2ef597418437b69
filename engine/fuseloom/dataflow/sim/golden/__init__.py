"""The executable specification of the machine: a generator per primitive, and what runs them."""
