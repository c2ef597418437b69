"""The page of sparse tensor networks: a tree, its constraints, all its loop nests, their times."""
