"""What every training shares: a folder with a manifest, metrics, checkpoints, and the state to resume from."""

from firstlight.runs.run import Run, open_run
from firstlight.runs.schedule import schedule

# firstlight.runs.recorder, which writes runs, needs PyTorch; looking at one does not.
__all__ = ["Run", "open_run", "schedule"]
