"""Debian's packages: the libraries that a program is linked with, the packages that contain them, and the files of a package."""
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile


def run(*words, **options):
    """The output of a command; its error ends this program."""
    done = subprocess.run(words, capture_output=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def linked(program):
    """The shared libraries that the loader finds for a program: paths by name, the loader itself among them."""
    libraries = {}
    for line in run("ldd", str(program)).decode().splitlines():
        words = line.split()
        if "not found" in line:
            sys.exit(f"{program} needs {words[0]}, which is not installed; install its package")
        if "=>" in words:
            libraries[words[0]] = words[2]
        elif words[0].startswith("/"):
            libraries[pathlib.Path(words[0]).name] = words[0]
    if not libraries:
        sys.exit(f"{program}: ldd names no library; is it a program of this machine's architecture?")
    return libraries


def owner(path):
    """The package that contains a file. Its list may have the path with or without /usr, whichever the root's links lead to."""
    real = os.path.realpath(path)
    forms = dict.fromkeys([path, real, re.sub(r"^/usr/", "/", real), re.sub(r"^/usr/", "/", path), "/usr" + path])
    for form in forms:
        found = subprocess.run(["dpkg-query", "--search", form], capture_output=True, text=True)
        lines = [line for line in found.stdout.splitlines() if line.endswith(": " + form) and "diversion" not in line]
        if lines:
            return lines[0].split(":")[0].split(",")[0]
    return None


def owners(program):
    """The packages of the libraries: the names of libraries by package, and the paths of libraries that no package contains."""
    packages, foreign = {}, []
    for name, path in sorted(linked(program).items()):
        package = owner(path)
        packages.setdefault(package, []).append(name) if package else foreign.append(path)
    return packages, foreign


def installed(package):
    """The fields of an installed package."""
    text = run("dpkg-query", "--show", "--showformat=${Package}\n${Version}\n${Architecture}\n${source:Package}\n"
               "${source:Version}\n", package).decode().splitlines()[:5]
    return dict(zip(["Package", "Version", "Architecture", "Source", "SourceVersion"], text))


def is_verified(path, total):
    """Whether a file has the checksum of apt's lists, such as SHA256:…; no if the lists have none that is strong."""
    kind, _, digest = total.partition(":")
    return kind in ("SHA256", "SHA512") and path.exists() and hashlib.new(kind, path.read_bytes()).hexdigest() == digest


def fetched(packages, folder):
    """
    The packages as files: the versions that apt would install now. Downloads those that are not in `folder` yet, or are there with
    another checksum than apt's: a file that somebody else left would be in the image.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    apt = ["apt-get", *(["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []), "download", "-qq"]
    done = subprocess.run([*apt, "--print-uris", *sorted(packages)], capture_output=True, text=True)
    totals = dict(re.findall(r"(?m)^'\S+' (\S+) \d+ ?(\S*)$", done.stdout))
    if done.returncode or len(totals) != len(packages):
        sys.exit(f"apt knows no file for one of {', '.join(sorted(packages))}; run `apt-get update`, then try again\n"
                 f"{done.stderr.strip()}")
    missing = [name for name, total in totals.items() if not is_verified(folder / name, total)]
    for name in missing:
        (folder / name).unlink(missing_ok=True)
    if missing:
        run(*apt, *(name.split("_")[0] for name in missing), cwd=folder)
    if wrong := [name for name in missing if not is_verified(folder / name, totals[name])]:
        sys.exit(f"{', '.join(wrong)}: apt's lists have no such SHA-256; run `apt-get update`, then try again")
    return [folder / name for name in sorted(totals)]


def fields(deb):
    """The control fields of a package's file, in the order of the file."""
    text = run("dpkg-deb", "--field", str(deb)).decode()
    return dict(re.findall(r"(?m)^([A-Za-z-]+): ?(.*(?:\n .*)*)", text)), text


def members(deb):
    """The entries of a package's file: pairs of tar entry and data. Paths have no leading `./`, and lib is in usr."""
    with tarfile.open(fileobj=io.BytesIO(run("dpkg-deb", "--fsys-tarfile", str(deb)))) as tar:
        for member in tar:
            name = re.sub(r"^(lib\w*|bin|sbin)/", r"usr/\1/", member.name.removeprefix("./"))
            yield name, member, tar.extractfile(member).read() if member.isfile() else None
