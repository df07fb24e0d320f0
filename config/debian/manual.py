#!/usr/bin/env python3
"""Writes remint's manual page, remint(1), from what the command line says of itself.

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
Remint consumes reports of rejected or expired JWTs from Kafka, works out which user is meant, mints the replacement that the
vendor accepts, and publishes it for the device to pick up.
.PP
Every command says what it takes with
.BR \-\-help .
.B remint \-\-version
prints the version, and the build on a second line; with
.BR \-\-json ,
both as one JSON object.
.SH COMMANDS
"""

TAIL = r""".SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
The thing asked for is wrong: a bad configuration, a refused token.
.TP
.B 2
The command line is wrong.
.TP
.B 75
Brokers, topics or something else outside cannot be used now; try again later.
.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
End
.BR run ", " pickup " and " signer
in order, within
.IR worker.shutdown_deadline .
.TP
.B SIGUSR1
Makes
.B run
finish what it has taken and take nothing new; the next one ends that.
.SH FILES
.TP
.I /etc/remint/remint.yaml
The worker's configuration, where the service
.B remint
looks for it;
.I /etc/remint/NAME.yaml
is that of
.BR remint@NAME .
.TP
.I /etc/remint/pickup.yaml
The gateway's, for the service
.BR remint\-pickup .
.TP
.I /etc/remint/signer.yaml
The signer's, for the service
.BR remint\-signer .
.TP
.I /etc/default/remint
The services' environment, which a configuration reads as
.BR ${{NAME}} .
.TP
.I /usr/share/doc/remint
The pages: every key, metric, code and log line, and an example of each file.
.SH SEE ALSO
.BR kcat (1),
.BR systemctl (1)
"""


def escaped(text):
    """Text that is none of the format's own."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in text)
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def spelled(name):
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}[name["kind"]]
    return f"\\fB{escaped(dashes + name['name'])}\\fR"


def described(argument):
    """A paragraph for an argument: how it is written, what it says, what it is by default."""
    value = f"\\fI{escaped(argument.get('valueName', ''))}\\fR"
    if argument["kind"] == "positional":
        term = value
    else:
        term = ", ".join(spelled(name) for name in argument["names"])
        if argument["kind"] == "option":
            term += f" {value}"
    says = argument.get("abstract", "") + (" " + argument["discussion"] if argument.get("discussion") else "")
    if argument.get("defaultValue"):
        says += f" Default: {argument['defaultValue']}."
    return [".TP", term, escaped(says.strip()) or "\\&"]


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
