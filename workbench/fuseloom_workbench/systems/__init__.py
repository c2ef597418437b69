"""The page on which one program is fused by every system, beside one reference."""
