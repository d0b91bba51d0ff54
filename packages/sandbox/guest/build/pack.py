# Runs inside of the freshly built guest, so that the result depends on nothing but the guest: compiles each module of
# the standard library and writes them all, source and bytecode, into one archive.
import importlib.util
import os
import sys
import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

SOURCE, FOLDER, ARCHIVE = sys.argv[1:]


def files_below(folder):
    for name in sorted(os.listdir(folder)):
        path = f"{folder}/{name}"
        if os.path.isdir(path):
            yield from files_below(path)
        else:
            yield path


def bytecode_of(name, source):
    """Bytecode that is valid without a look at the source or its date; what is in the archive belongs together."""
    code = compile(source, f"{FOLDER}/{name}", "exec", dont_inherit=True)
    return bytes(_code_to_hash_pyc(code, importlib.util.source_hash(source), checked=False))


def place_of_bytecode(name):
    folder, _, file = name.rpartition("/")
    return f"{folder}/__pycache__/{file[:-3]}.cpython-311.pyc".lstrip("/")


def add(archive, name, data):
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    archive.writestr(entry, data, compresslevel=9)


with zipfile.ZipFile(ARCHIVE, "w") as archive:
    # An empty folder that CPython looks for, and would complain about.
    archive.writestr(zipfile.ZipInfo("lib-dynload/", (1980, 1, 1, 0, 0, 0)), b"")
    for path in files_below(SOURCE):
        name = path[len(SOURCE) + 1 :]
        with open(path, "rb") as file:
            source = file.read()
        add(archive, name, source)
        if name.endswith(".py"):
            add(archive, place_of_bytecode(name), bytecode_of(name, source))
