"""A worker under measurement: its processes, what they use, and how it ends."""

import os
import pathlib
import signal
import subprocess

from .figures import Trouble

TICKS = os.sysconf("SC_CLK_TCK")


class Subject:
    """The worker started by a command, in a session of its own so that it can be ended as a whole."""

    def __init__(self, command, log):
        self.log = pathlib.Path(log)
        with open(log, "wb") as file:
            self.process = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def require_life(self):
        if self.process.poll() is not None:
            tail = self.log.read_text(errors="replace").strip().splitlines()[-5:]
            raise Trouble("\n".join([f"the worker ended with {self.process.returncode}:", *tail]))

    def processes(self):
        """The process and all its descendants."""
        found, line = [], [self.process.pid]
        while line:
            number = line.pop()
            found.append(number)
            try:
                for thread in pathlib.Path(f"/proc/{number}/task").iterdir():
                    line += map(int, (thread / "children").read_text().split())
            except OSError:
                pass
        return found

    def processor_seconds(self):
        """User and system time of all processes."""
        total = 0
        for number in self.processes():
            try:
                # The name in parentheses may hold spaces; utime and stime are the 14th and 15th fields.
                fields = pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
                total += int(fields[11]) + int(fields[12])
            except OSError:
                pass
        return total / TICKS

    def peak_megabytes(self):
        """The sum of each process's largest resident size; pages that they share count for each."""
        total = 0
        for number in self.processes():
            try:
                for line in pathlib.Path(f"/proc/{number}/status").read_text().splitlines():
                    if line.startswith("VmHWM:"):
                        total += int(line.split()[1])
            except OSError:
                pass
        return total / 1000
