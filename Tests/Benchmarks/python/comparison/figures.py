"""Medians, spreads and tables."""

import statistics


class Trouble(Exception):
    """Why there is nothing to compare."""


class Spread:
    """The median of several measurements with the lowest and the highest."""

    def __init__(self, values):
        self.median, self.low, self.high = statistics.median(values), min(values), max(values)

    def text(self, form):
        return f"{self.median:{form}} ({self.low:{form}} to {self.high:{form}})"

    @property
    def json(self):
        return {"median": self.median, "low": self.low, "high": self.high}


class Result:
    """What a comparison came to: a table, the same as JSON, and whether every target was met."""

    def __init__(self, table, json, met):
        self.table, self.json, self.met = table, json, met


def table(heads, rows):
    """Columns as wide as their widest cell; all but the first to the right."""
    lines = [heads, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]

    def line(cells):
        first = cells[0].ljust(widths[0])
        return "  ".join([first, *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:]))]).rstrip()

    return "\n".join([line(heads), "  ".join("-" * width for width in widths), *map(line, rows)])


def judgement(ratio, target):
    """A target in words."""
    if target is None:
        return "no target"
    return f"at least {target:g}x: {'met' if ratio.median >= target else 'missed'}"


def is_met(ratio, target):
    return target is None or ratio.median >= target
