"""What a fused loop structure may be, as constraints, and what satisfies them."""
