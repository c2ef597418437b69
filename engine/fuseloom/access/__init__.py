"""Access patterns: tensor programs as terms, rewritten by equality saturation until they fit
hardware (Glenside, Smith et al., MAPS 2021).
"""
