#!/usr/bin/env python3
"""Writes remint's manual page, remint(1), from the help of the command line.

    remint --experimental-dump-help | manual.py --date YYYY-MM-DD > remint.1
"""

import argparse
import json
import sys

HEAD = r""".\" Made by config/debian/manual.py from remint --experimental-dump-help.
.TH REMINT 1 "{date}" "remint {version}" "User Commands"
.SH NAME
remint \- {abstract}
.SH SYNOPSIS
.B remint
.I command
.RI [ options ]
.SH DESCRIPTION
Remint consumes reports of rejected or expired JWTs from Kafka. For each report it identifies the user, mints a new token that the
vendor accepts, and publishes the token. The device then picks the token up.
.PP
Each command lists its options with
.BR \-\-help .
.B remint \-\-version
prints the version, and the build on a second line. With
.BR \-\-json ,
the command prints both as one JSON object.
.SH COMMANDS
"""

TAIL = r""".SH EXIT STATUS
.TP
.B 0
The command has done its work.
.TP
.B 1
The request failed, for example because of a bad configuration or a refused token.
.TP
.B 2
The usage is wrong.
.TP
.B 75
The failure is temporary, for example because no broker answers. Try again later.
.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
Stop
.BR run ", " pickup " and " signer .
The process finishes its work within
.IR worker.shutdown_deadline .
.TP
.B SIGUSR1
Makes
.B run
quiet: the worker finishes its current events and consumes nothing new, until a second SIGUSR1.
.SH FILES
.TP
.I /etc/remint/remint.yaml
The configuration of the service
.BR remint .
The service
.B remint@NAME
reads
.IR /etc/remint/NAME.yaml .
.TP
.I /etc/remint/pickup.yaml
The configuration of the service
.BR remint\-pickup .
.TP
.I /etc/remint/signer.yaml
The configuration of the service
.BR remint\-signer .
.TP
.I /etc/default/remint
The environment of the services. A configuration reads a variable as
.BR ${{NAME}} .
.TP
.I /usr/share/doc/remint
Pages about every key, metric, code and log line, and an example of each file.
.SH SEE ALSO
.BR kcat (1),
.BR systemctl (1)
"""


def escaped(text):
    """Text with every character of the format's own escaped."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in text)
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def spelled(name):
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}[name["kind"]]
    return f"\\fB{escaped(dashes + name['name'])}\\fR"


def described(argument):
    """A paragraph for an argument: its names, its help and its default."""
    value = f"\\fI{escaped(argument.get('valueName', ''))}\\fR"
    if argument["kind"] == "positional":
        term = value
    else:
        term = ", ".join(spelled(name) for name in argument["names"])
        if argument["kind"] == "option":
            term += f" {value}"
    help_text = argument.get("abstract", "") + (" " + argument["discussion"] if argument.get("discussion") else "")
    if argument.get("defaultValue"):
        help_text += f" Default: {argument['defaultValue']}."
    return [".TP", term, escaped(help_text.strip()) or "\\&"]


def paragraph_of(lines):
    """A paragraph whose indented lines keep their breaks."""
    words = " ".join(line for line in lines if not line.startswith(" "))
    kept = [escaped(line.strip()) for line in lines if line.startswith(" ")]
    return ([".PP", escaped(words)] if words else []) + ([".RS", ".nf", *kept, ".fi", ".RE"] if kept else [])


def written(command, path):
    """The sections of a command, or of those below it."""
    below = [child for child in command.get("subcommands", []) if child["commandName"] != "help"]
    if below:
        return [line for child in below for line in written(child, f"{path} {child['commandName']}")]
    lines = [f'.SS "{escaped(path)}"', escaped(command.get("abstract", ""))]
    for paragraph in (command.get("discussion") or "").split("\n\n"):
        lines += paragraph_of(paragraph.split("\n"))
    for argument in command.get("arguments", []):
        names = [name["name"] for name in argument.get("names") or []]
        if argument.get("shouldDisplay", True) and "help" not in names and "version" not in names:
            lines += described(argument)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--date", required=True, help="the page's date")
    parser.add_argument("--version", default="", help="the program's version")
    options = parser.parse_args()
    root = json.load(sys.stdin)["command"]
    abstract = root["abstract"].rstrip(".")
    head = HEAD.format(
        date=options.date, version=escaped(options.version), abstract=escaped(abstract[:1].lower() + abstract[1:]))
    body = "\n".join(written(root, root["commandName"]))
    sys.stdout.write(head + body + "\n" + TAIL.format())


if __name__ == "__main__":
    main()
