"""Library calls that say which part of their inputs they need, fused tile by tile (Fern)."""
