"""The constraints on fused loop structures, and the search for structures that satisfy them."""
