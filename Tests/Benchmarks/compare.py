#!/usr/bin/env python3
"""Remint beside its peers, in the same run on the same machine.

    compare.py mint    tokens a second: remint-bench mint and jwt-kit
    compare.py worker  events a second through a broker: remint run and a worker in Python

The first call makes a virtual environment beside this file and installs what python/requirements.txt names.
"""

import hashlib
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = HERE / ".build-peers" / "venv"
REQUIREMENTS = HERE / "python" / "requirements.txt"


def enter_environment():
    """Goes on in the virtual environment, made anew where the requirements changed."""
    python = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {REQUIREMENTS.relative_to(HERE)} into {ENVIRONMENT.relative_to(HERE)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", REQUIREMENTS], check=True)
        stamp.write_text(wanted)
    if pathlib.Path(sys.prefix).resolve() != ENVIRONMENT:
        os.execv(python, [python, __file__, *sys.argv[1:]])


if __name__ == "__main__":
    enter_environment()
    sys.path.insert(0, str(HERE / "python"))
    from comparison.command import main

    sys.exit(main(HERE))
