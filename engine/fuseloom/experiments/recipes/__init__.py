"""The tables and figures of the paper, one module for each or for a family of them."""
