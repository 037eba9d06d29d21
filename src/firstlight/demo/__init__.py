"""The demonstration: both papers' main job on what the package carries, in a few minutes on two cores."""
