"""Tables and figures of the papers, made again: ours beside theirs, with a sentence on what agrees."""
