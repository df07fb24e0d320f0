"""Writes OCI layouts: images and charts as one archive each, byte for byte the same for the same input.

The forms are those of the OCI image specification 1.1: blobs named by their SHA-256, a manifest, an index, and a tar around them.
"""
import dataclasses
import gzip
import hashlib
import io
import json
import pathlib
import tarfile
import time

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
IMAGE_CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def encoded(value):
    """JSON without spaces, its members in order, so that equal values have equal digests."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def time_text(epoch):
    """A time as images and SBOMs write it: RFC 3339, in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))


def packed(data, level=9):
    """Data as gzip without a name and a time."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=level, mtime=0, filename="") as file:
        file.write(data)
    return out.getvalue()


@dataclasses.dataclass
class Entry:
    """One entry of a tar: a folder, a link (with a target) or a file (with data)."""
    name: str
    mode: int = 0o644
    data: bytes | None = None
    target: str | None = None

    def info(self, epoch):
        info = tarfile.TarInfo(self.name)
        info.mode, info.mtime = self.mode, epoch
        if self.target is not None:
            info.type, info.linkname, info.mode = tarfile.SYMTYPE, self.target, 0o777
        elif self.data is None:
            info.type = tarfile.DIRTYPE
        else:
            info.size = len(self.data)
        return info


def tar_of(entries, epoch):
    """A tar of the entries by name, with the folders that they need. All times are `epoch`."""
    all_entries = {entry.name: entry for entry in entries}
    for entry in entries:
        for parent in list(pathlib.PurePosixPath(entry.name).parents)[:-1]:
            all_entries.setdefault(str(parent), Entry(str(parent), 0o755))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in sorted(all_entries):
            entry = all_entries[name]
            tar.addfile(entry.info(epoch), io.BytesIO(entry.data) if entry.data is not None else None)
    return out.getvalue()


class Layout:
    """An OCI layout in memory."""

    def __init__(self):
        self.blobs, self.manifests = {}, []

    def add(self, data, media_type):
        """Adds a blob, and returns its descriptor."""
        self.blobs[digest_of(data)] = data
        return {"mediaType": media_type, "digest": digest_of(data), "size": len(data)}

    def manifest(self, config, layers, annotations, artifact_type=None):
        """Adds a manifest of blobs that are here, and returns its descriptor."""
        value = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers, "annotations": annotations}
        if artifact_type:
            value["artifactType"] = artifact_type
        return self.add(encoded(value), MANIFEST)

    def write(self, path, epoch):
        """Writes the archive, and returns the digest of its index."""
        index = encoded({"schemaVersion": 2, "mediaType": INDEX, "manifests": self.manifests})
        entries = [Entry("oci-layout", data=encoded({"imageLayoutVersion": "1.0.0"})), Entry("index.json", data=index)]
        entries += [Entry(f"blobs/{name.replace(':', '/')}", data=data) for name, data in self.blobs.items()]
        pathlib.Path(path).write_bytes(tar_of(entries, epoch))
        return digest_of(index)


def read(path):
    """The layout in an archive. Raises ValueError if a blob does not have the digest that names it."""
    layout = Layout()
    with tarfile.open(path) as tar:
        for member in tar:
            parts = member.name.split("/")
            if member.isfile() and parts[0] == "blobs":
                data = tar.extractfile(member).read()
                if digest_of(data) != f"{parts[1]}:{parts[2]}":
                    raise ValueError(f"{path}: the blob {member.name} has the digest {digest_of(data)}")
                layout.blobs[digest_of(data)] = data
            elif member.name == "index.json":
                layout.manifests = json.loads(tar.extractfile(member).read())["manifests"]
    return layout
