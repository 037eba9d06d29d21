"""The one-layer transformer of Def. 3.5, trained by Algorithms 1 and 2 as they are stated."""
