#!/usr/bin/env python3
"""Writes the bill of materials of a program or of its image, as CycloneDX 1.6.

    sbom.py --dist .build/dist --build .build --out remint_1.2.0_amd64.cdx.json --epoch SECONDS --commit COMMIT [--image LIST]

It lists the Swift packages of Package.resolved, the C libraries that they and the Swift runtime contain, and the Debian packages of every
shared library that the loader finds. `--image` has the files of the image's packages, which config/release/image.py wrote. Before it
ends it reads the file again, and compares it with `ldd` and Package.resolved.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import sys
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import oci  # noqa: E402
import packages  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Copies of C libraries inside of Swift packages: their module, the library, its terms, the file with its version, and the version's form.
CONTAINED = {
    "CNIOBoringSSL": ("BoringSSL", "OpenSSL AND ISC", "Package.swift", r"BoringSSL Commit: ([0-9a-f]+)"),
    "CCryptoBoringSSL": ("BoringSSL", "OpenSSL AND ISC", "Package.swift", r"BoringSSL Commit: ([0-9a-f]+)"),
    "CXKCP": ("XKCP", "CC0-1.0", "Sources/CXKCP/vendored-sources.txt", r"-g([0-9a-f]+)\)"),
    "CNIOExtrasZlib": ("zlib", "Zlib", "Sources/CNIOExtrasZlib/include/nioextras-zlib.h", r'ZLIB_VERSION "([^"]+)"'),
    "CNIOLLHTTP": ("llhttp", "MIT", "Sources/CNIOLLHTTP/include/c_nio_llhttp.h",
                   r"LLHTTP_VERSION_MAJOR (\d+)\s+#define LLHTTP_VERSION_MINOR (\d+)\s+#define LLHTTP_VERSION_PATCH (\d+)"),
    # Its sources name no version.
    "CYaml": ("libyaml", "MIT", "Sources/CYaml/include/yaml.h", r'YAML_VERSION_STRING "([^"]+)"'),
}


def component(name, version, purl, terms=None, **more):
    found = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, **more}
    if terms:
        found["licenses"] = [{"expression": terms}]
    return found


def properties(**values):
    """Properties in CycloneDX's form; a list becomes several of one name."""
    return [{"name": f"remint:{name}", "value": value} for name, many in values.items() if many
            for value in ([many] if isinstance(many, str) else many)]


def terms_of(folder):
    """The SPDX expression of a checkout's license, if it is one of those that Swift packages use."""
    text = "".join(path.read_text(errors="replace") for path in sorted(folder.glob("LICENSE*")))
    if "Apache License" in text:
        return "Apache-2.0" + (" WITH Swift-exception" if "Runtime Library Exception" in text else "")
    return "MIT" if "Permission is hereby granted, free of charge" in text else None


def swift_packages(build):
    """The packages of Package.resolved, each with the C libraries inside it."""
    objects = build / "release/remint.product/Objects.LinkFileList"
    modules = set(re.findall(r"/([^/\s]+)\.build/", objects.read_text())) if objects.exists() else None
    resolved = json.loads((ROOT / "config/Package.resolved").read_text())
    for pin in sorted(resolved["pins"], key=lambda pin: pin["identity"]):
        location = re.sub(r"\.git$", "", pin["location"])
        version = pin["state"].get("version") or pin["state"]["revision"]
        folder = next((path for path in (build / "checkouts").glob("*") if path.name.lower() == pathlib.Path(location).name.lower()), None)
        if not folder:
            sys.exit(f"{build}/checkouts has no {pin['identity']}; run `swift package resolve`")
        purl = f"pkg:swift/{re.sub(r'^[a-z+]+://', '', location)}@{version}"
        more = {"externalReferences": [{"type": "vcs", "url": pin["location"]}]}
        if modules is not None and not any(path.name in modules for path in (folder / "Sources").glob("*")):
            # A package that another one names, and from which the program has nothing.
            more["scope"] = "excluded"
        yield component(pin["identity"], version, purl, terms_of(folder),
                        properties=properties(revision=pin["state"]["revision"]), **more)
        yield from contained(folder, pin["identity"], purl, {"scope": "excluded"} if "scope" in more else {})


def contained(folder, identity, purl, scope):
    """The copies of C libraries in a package. A module of three C files or more is one, which has to be listed here."""
    for module in sorted((folder / "Sources").glob("*/")):
        if sum(path.suffix in (".c", ".cc", ".cpp") for path in module.rglob("*")) < 3:
            continue
        if module.name not in CONTAINED:
            sys.exit(f"{module} may be a copy of a C library; add it to CONTAINED in config/release/sbom.py")
        name, terms, path, pattern = CONTAINED[module.name]
        found = re.search(pattern, (folder / path).read_text(errors="replace")) if (folder / path).exists() else None
        version = ".".join(found.groups()) if found else "unknown"
        yield component(name, version, f"pkg:generic/{name.lower()}@{version}?in={identity}", terms,
                        properties=properties(inside=purl), **scope)


def runtime(build, foreign):
    """The Swift runtime and ICU in it, whether the program contains them or is linked with the toolchain's."""
    version = re.search(r"Swift version (\S+)", packages.run(*os.environ.get("SWIFT", "swift").split(), "--version").decode())
    if not version:
        sys.exit("`swift --version` names no version; put the toolchain of the build into the PATH")
    names = [pathlib.Path(path).name for path in foreign]
    if unknown := [path for path in foreign if "/swift/" not in path]:
        sys.exit(f"no Debian package contains {', '.join(unknown)}; link the program with packaged libraries")
    purl = f"pkg:generic/swift@{version.group(1)}"
    yield component("swift", version.group(1), purl, "Apache-2.0 WITH Swift-exception", properties=properties(library=names),
                    description="Swift's standard library, Foundation and Dispatch" + ("" if names else ", linked statically"))
    data = build / "icudata.s"
    icu = re.search(r"icudt(\d+)_dat", data.read_text()) if data.exists() else None
    icu = icu.group(1) if icu else "unknown"
    yield component("icu", icu, f"pkg:generic/icu@{icu}", "Unicode-3.0", properties=properties(inside=purl))


def debian(name, version, architecture, source, libraries):
    release = dict(re.findall(r'(?m)^(\w+)="?([^"\n]*)"?$', pathlib.Path("/etc/os-release").read_text()))
    purl = (f"pkg:deb/{release['ID']}/{name}@{urllib.parse.quote(version, safe='~')}"
            f"?arch={architecture}&distro={release['ID']}-{release['VERSION_ID']}")
    return component(name, version, purl, properties=properties(library=libraries, source=source))


def debian_packages(owners, image):
    if image is None:
        for name, libraries in sorted(owners.items()):
            found = packages.installed(name)
            yield debian(name, found["Version"], found["Architecture"], found["Source"], libraries)
        return
    for path in image.read_text().split():
        found, _ = packages.fields(path)
        yield {**debian(found["Package"], found["Version"], found["Architecture"], found.get("Source", found["Package"]),
                        owners.get(found["Package"], [])),
               "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()}]}


def check(path, program):
    """Compares the file with the loader's answer and the manifest."""
    found = json.loads(pathlib.Path(path).read_text())["components"]
    named = {prop["value"] for part in found for prop in part.get("properties", []) if prop["name"] == "remint:library"}
    versions = {(part["name"], part["version"]) for part in found}
    pins = json.loads((ROOT / "config/Package.resolved").read_text())["pins"]
    missing = sorted(set(packages.linked(program)) - named)
    missing += [pin["identity"] for pin in pins
                if (pin["identity"], pin["state"].get("version") or pin["state"]["revision"]) not in versions]
    if missing:
        sys.exit(f"{path} lacks {', '.join(missing)}; fix config/release/sbom.py")
    return len(found), len(named), len(pins)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True)
    parser.add_argument("--epoch", required=True, type=int)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--image", type=pathlib.Path)
    options = parser.parse_args()
    program = options.dist / "remint"
    about = json.loads((options.dist / "build.json").read_text())
    owners, foreign = packages.owners(program)
    parts = [*swift_packages(options.build), *runtime(options.build, foreign), *debian_packages(owners, options.image)]
    kind = "application" if options.image is None else "container"
    root = {
        **component("remint", about["version"], f"pkg:generic/remint@{about['version']}", "Apache-2.0",
                    properties=properties(commit=options.commit)), "type": kind,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(program.read_bytes()).hexdigest()}],
    }
    bom = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"timestamp": oci.time_text(options.epoch), "component": root,
                     "tools": {"components": [{"type": "application", "name": "config/release/sbom.py"}]}},
        "components": parts,
        "dependencies": [{"ref": root["bom-ref"], "dependsOn": sorted(part["bom-ref"] for part in parts)}],
    }
    bom["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, oci.digest_of(oci.encoded(bom)))}"
    pathlib.Path(options.out).write_text(json.dumps(bom, indent=1, sort_keys=True) + "\n")
    count, shared, pins = check(options.out, program)
    print(f"{options.out}: {count} components, {shared} shared libraries, {pins} Swift packages")


if __name__ == "__main__":
    main()
