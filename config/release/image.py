#!/usr/bin/env python3
"""Makes an OCI image of a Remint package, as an archive, without a container engine.

    image.py --deb remint_1.2.0_amd64.deb --out remint_1.2.0_amd64.oci.tar --revision COMMIT --epoch SECONDS
             [--packages FOLDER] [--list FILE]

The root contains the program with the vendors' files, the few programs that the chart calls, the libraries that these are linked with,
the certificates of public authorities, and nothing else: no package manager. The libraries and the chart's programs are files of Debian's
packages, which apt downloads and verifies, in the versions that it would install now. Equal packages and times make an equal archive. The
program runs as the user 65532; any other user works too, and the root may be read-only. `--list` writes the files of the packages, for
the SBOM.
"""
import argparse
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import oci  # noqa: E402
import packages  # noqa: E402
from oci import Entry  # noqa: E402

# The libraries alone, and OpenSSL's providers. Everything else of their packages is for other programs.
LIBRARY = re.compile(r"usr/lib(64|/[a-z0-9_]+-linux-gnu\w*)/([^/]+\.so(\.[^/]*)?|ossl-modules/[^/]+\.so)")
PROGRAM = re.compile(r"usr/(bin/|share/remint/).+")
# What the chart's pods run besides Remint, by package: the token of the admin server, probes and stops of the signer, and helm test.
TOOLS = {
    "bash": ["bash"], "coreutils": ["base64", "cat", "cut", "head", "sleep", "sort", "test", "timeout"],
    "libc-bin": ["getent"], "openssl": ["openssl"],
}
# Besides the libraries: these programs, the authorities' certificates, and the name of the release, by which scanners choose their
# advisories.
OTHERS = {
    "ca-certificates": re.compile(r"usr/share/ca-certificates/.+\.crt"), "base-files": re.compile(r"(usr/lib|etc)/os-release"),
    **{package: re.compile(rf"usr/bin/({'|'.join(names)})") for package, names in TOOLS.items()},
}
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
# The same number as in the Dockerfile and the chart.
USER = 65532
# The root that a merged /usr has, a folder for temporary files, and one for the configuration.
FRAME = [
    *(Entry(name, target=f"usr/{name}") for name in ("bin", "lib", "lib64", "sbin")),
    Entry("usr/bin", 0o755), Entry("usr/lib64", 0o755), Entry("usr/sbin", 0o755),
    Entry("tmp", 0o1777), Entry("etc/remint", 0o755),
    Entry("proc", 0o555), Entry("sys", 0o555), Entry("dev", 0o755), Entry("run", 0o755),
    Entry("etc/passwd", data=f"root:x:0:0:root:/:/sbin/nologin\nremint:x:{USER}:{USER}:remint:/:/sbin/nologin\n".encode()),
    Entry("etc/group", data=f"root:x:0:\nremint:x:{USER}:\n".encode()),
    Entry("etc/nsswitch.conf", data=b"passwd: files\ngroup: files\nhosts: files dns\n"),
    # OpenSSL looks here without a variable in the environment.
    Entry("usr/lib/ssl/cert.pem", target=f"/{CERTIFICATES}"), Entry("usr/lib/ssl/certs", target="/etc/ssl/certs"),
]


def entries_of(deb, pattern):
    """The entries of a package whose names have the pattern, its copyright, and its record for scanners."""
    control, text = packages.fields(deb)
    name = control["Package"]
    found = [Entry(f"var/lib/dpkg/status.d/{name}", data=text.encode())]
    for path, member, data in packages.members(deb):
        if not (pattern.fullmatch(path) or re.fullmatch(rf"usr/share/doc/{re.escape(name)}(/copyright)?", path)):
            continue
        if member.issym():
            found.append(Entry(path, target=member.linkname))
        elif member.isfile():
            found.append(Entry(path, 0o755 if member.mode & 0o111 else 0o644, data))
    return found


def base(files):
    """The layer below the program: frame, libraries, certificates and the chart's programs."""
    entries = list(FRAME)
    for deb in files:
        name = packages.fields(deb)[0]["Package"]
        found = entries_of(deb, OTHERS.get(name, LIBRARY))
        if name == "ca-certificates":
            certificates = sorted((entry for entry in found if entry.name.endswith(".crt")), key=lambda entry: entry.name)
            found = [entry for entry in found if entry not in certificates]
            entries.append(Entry(CERTIFICATES, data=b"".join(entry.data for entry in certificates)))
        entries += found
    return entries


def with_terms(files, folder):
    """The files, and the packages that have the copyright of some of them: a package's folder of documents may be a link."""
    links = {member.linkname for deb in files for name, member, _ in packages.members(deb)
             if member.issym() and name == f"usr/share/doc/{packages.fields(deb)[0]['Package']}"}
    return sorted({*files, *packages.fetched(links, folder)}) if links else files


def written(entries, folder):
    """The programs among the entries, as files in a folder: the loader finds their libraries."""
    for entry in entries:
        if entry.name.startswith("usr/bin/") and entry.data is not None:
            path = pathlib.Path(folder, pathlib.PurePosixPath(entry.name).name)
            path.write_bytes(entry.data)
            path.chmod(0o755)
            yield path


def owners_of(programs):
    """The packages of all libraries of the programs."""
    found = set()
    for program in programs:
        owners, foreign = packages.owners(program)
        if foreign:
            sys.exit(f"{program.name} needs {', '.join(foreign)}, which no Debian package contains. "
                     "Build Remint with `make dist`: it contains Swift's libraries.")
        found.update(owners)
    return found


def missing(entries, programs):
    """The chart's programs that no entry is, and the libraries of the programs that no entry is."""
    names = {pathlib.PurePosixPath(entry.name).name for entry in entries}
    needed = {name for tools in TOOLS.values() for name in tools}
    return sorted(needed.union(*map(packages.linked, programs)) - names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deb", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--revision", required=True)
    parser.add_argument("--epoch", required=True, type=int)
    parser.add_argument("--packages", default=".build/packages")
    parser.add_argument("--list")
    options = parser.parse_args()
    control, _ = packages.fields(options.deb)
    program = entries_of(options.deb, PROGRAM)
    with tempfile.TemporaryDirectory() as folder:
        tools = base(packages.fetched(TOOLS, options.packages))
        programs = list(written([*program, *tools], folder))
        files = packages.fetched({*owners_of(programs), *OTHERS}, options.packages)
        files = with_terms(files, options.packages)
        below = base(files)
        if lacking := missing(below, programs):
            sys.exit(f"the image would lack {', '.join(lacking)}; add a pattern to config/release/image.py")
    if options.list:
        pathlib.Path(options.list).write_text("".join(f"{path}\n" for path in files))
    write(options, control, below, program)


def write(options, control, below, program):
    layout, created = oci.Layout(), oci.time_text(options.epoch)
    tars = [oci.tar_of(below, options.epoch), oci.tar_of(program, options.epoch)]
    layers = [layout.add(oci.packed(tar), oci.LAYER) for tar in tars]
    notes = {
        "org.opencontainers.image.title": "remint", "org.opencontainers.image.version": control["Version"],
        "org.opencontainers.image.description": control["Description"].split("\n")[0],
        "org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.revision": options.revision,
        "org.opencontainers.image.created": created,
    }
    config = {
        "architecture": control["Architecture"], "os": "linux", "created": created,
        "config": {
            "User": f"{USER}:{USER}", "Entrypoint": ["/usr/bin/remint"], "Cmd": ["--help"], "WorkingDir": "/",
            "Env": ["PATH=/usr/bin", f"SSL_CERT_FILE=/{CERTIFICATES}"], "Labels": notes, "StopSignal": "SIGTERM",
        },
        "rootfs": {"type": "layers", "diff_ids": [oci.digest_of(tar) for tar in tars]},
        "history": [{"created": created, "created_by": f"config/release/image.py: {what}"}
                    for what in ("libraries, certificates and the chart's programs", f"remint {control['Version']}")],
    }
    manifest = layout.manifest(layout.add(oci.encoded(config), oci.IMAGE_CONFIG), layers, notes)
    layout.manifests = [{
        **manifest, "platform": {"architecture": control["Architecture"], "os": "linux"},
        "annotations": {"org.opencontainers.image.ref.name": control["Version"]},
    }]
    layout.write(options.out, options.epoch)
    size = sum(map(len, tars))
    print(json.dumps({
        "image": options.out, "digest": manifest["digest"], "bytes": size, "packed": sum(layer["size"] for layer in layers)}))


if __name__ == "__main__":
    main()
