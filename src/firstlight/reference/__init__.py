"""The attention-only transformer of Def. 3.1 and its descent."""
