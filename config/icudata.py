#!/usr/bin/env python3
"""Writes ICU's data with English and the root locale alone, as assembly that is linked in place of the static runtime's.

Foundation's static library has 34 MB of every language's names, calendars and sort orders. Nothing of Remint speaks to people in
another language than English, so the program carries what that needs. Without an item ICU falls back to the root locale.

    icudata.py LIB_FOUNDATION_ICU OUT.S        the archive lib_FoundationICU.a, and the file to write
"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile

# Every tree of locales has these; other names in a tree are other locales, or dictionaries of scripts without spaces.
LOCALES = re.compile(r"(root|en|en_US|en_US_POSIX|en_001|pool|res_index|supplementalData|ucadata|char|word|line|sent|title)\b.*")
# Of what is in no tree: no other locale, no character set but Unicode's, no names of characters.
DROPPED = re.compile(r"(?!(root|en|en_US|en_US_POSIX|en_001|pool|res_index)\.)[a-z]{2,3}(_[A-Za-z0-9_]+)?\.res|.*\.cnv|unames\.icu")
MAGIC = b"CmnD"


def shipped(archive):
    """The data of the archive: the member's read-only section."""
    with tempfile.TemporaryDirectory() as folder:
        archive = pathlib.Path(archive).resolve()
        member = "icu_packaged_data.cpp.o"
        subprocess.run(["ar", "x", archive, member], cwd=folder, check=True)
        out = pathlib.Path(folder, "data")
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.rodata", member, out], cwd=folder, check=True)
        names = subprocess.run(["nm", member], cwd=folder, check=True, capture_output=True, text=True).stdout
        symbol = re.search(r" [RrDd] (icudt\d+_dat)", names)
        data = out.read_bytes()
        if not symbol or data[12:16] != MAGIC:
            sys.exit(f"{archive} has no ICU data in the form that is known here")
        return symbol.group(1), data


def items(data):
    """The header, and each item's name with its bytes (ICU's common data, format version 1: ucmndata.h)."""
    header, = struct.unpack_from("<H", data)
    count, = struct.unpack_from("<I", data, header)
    table = [struct.unpack_from("<II", data, header + 4 + 8 * index) for index in range(count)]
    ends = [offset for _, offset in table[1:]] + [len(data) - header]
    found = []
    for (name, begin), end in zip(table, ends):
        name = data[header + name:data.index(b"\0", header + name)].decode()
        found.append((name, data[header + begin:header + end]))
    return data[:header], found


def kept(name):
    parts = name.split("/")[1:]
    # Transliteration between scripts has no fallback and no use here.
    if parts[0] == "translit":
        return False
    return bool(LOCALES.fullmatch(parts[-1])) if len(parts) > 1 else not DROPPED.fullmatch(parts[-1])


def packed(header, found):
    """The data of these items, each at a multiple of 16 bytes."""
    names, table, body = b"", b"", b""
    start = 4 + 8 * len(found)
    base = start + sum(len(name) + 1 for name, _ in found)
    base += -base % 16
    for name, contents in found:
        table += struct.pack("<II", start + len(names), base + len(body))
        names += name.encode() + b"\0"
        body += contents + b"\xaa" * (-len(contents) % 16)
    toc = struct.pack("<I", len(found)) + table + names
    return header + toc + b"\xaa" * (base - len(toc)) + body


def main():
    archive, out = sys.argv[1:]
    symbol, data = shipped(archive)
    header, found = items(data)
    slim = packed(header, [item for item in found if kept(item[0])])
    path = pathlib.Path(out)
    blob = path.with_suffix(".dat")
    blob.write_bytes(slim)
    path.write_text(f"""\
    .section .rodata
    .globl {symbol}
    .balign 16
    .type {symbol}, @object
{symbol}:
    .incbin "{blob.resolve()}"
    .size {symbol}, . - {symbol}
    .section .note.GNU-stack,"",@progbits
""")
    print(f"ICU's data: {len(slim)} of {len(data)} bytes")


if __name__ == "__main__":
    main()
