"""How much memory this process has held."""

from pathlib import Path


def peak_bytes() -> int:
    """Return the most memory this process has held at once.

    Not `ru_maxrss`: that begins with what the process that started this one held, so a small child of a large parent
    looks large.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))
