"""Memory ports that loads and stores share."""
