"""What the whole machine does, whoever does it."""

import os
import pathlib

CORES = len(os.sched_getaffinity(0))
TICKS = os.sysconf("SC_CLK_TCK")


def busy_seconds():
    """Processor time since the start that was neither idle nor taken by other guests of the host."""
    user, nice, system, _, _, interrupts, soft = pathlib.Path("/proc/stat").read_text().split()[1:8]
    return sum(map(int, (user, nice, system, interrupts, soft))) / TICKS
