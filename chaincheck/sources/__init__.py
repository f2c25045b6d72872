"""Sources: one reader for each data set's own layout."""
