import { ATTEMPT, type HostileProgram } from "../hostile-program.js";

const language = "python";
const SMALL = { limits: { storage_bytes: 200_000, files: 200, descriptors: 32 } };

/** Ways out of the session's files, and ways to fill them up. */
export const pythonFiles: readonly HostileProgram[] = [
  {
    name: "absolute paths lead into the session's own tree",
    language,
    code: `${ATTEMPT}
for path in ("/etc/passwd", "@outside@/canary.txt", "@outside@", "/root/.ssh", "/home", "/sys/kernel", "/dev/mem"):
    attempt(open, path)
attempt(open, "@outside@/escaped", "w")
attempt(os.mkdir, "@outside@/escaped")
attempt(os.listdir, "@outside@")`,
    ends: "well",
    says: "refused FileNotFoundError\n".repeat(10),
  },
  {
    name: "two dots stop at the root",
    language,
    code: `${ATTEMPT}
attempt(open, "../" * 30 + "etc/passwd")
attempt(open, "/app/../../../../../..@outside@/canary.txt")
attempt(open, "/app/./.././..//..//@outside@/canary.txt")
attempt(os.chdir, "/../../..@outside@")
attempt(open, "../" * 3000 + "etc/passwd")
print("canary.txt" in os.listdir("/"), "etc" in os.listdir("/app/.."))`,
    ends: "well",
    says: `${"refused PermissionError\n".repeat(4)}refused OSError\nFalse False\n`,
  },
  {
    name: "there is no /proc",
    language,
    code: `${ATTEMPT}
for path in ("self/environ", "self/maps", "self/mem", "1/root/etc/passwd", "self/fd/0", "self/cwd", "kcore"):
    attempt(open, "/proc/" + path)
attempt(os.listdir, "/proc")`,
    ends: "well",
    says: "refused FileNotFoundError\n".repeat(8),
  },
  {
    name: "the environment is the session's own",
    language,
    code: `
import os
print(os.environ.get("@secret@"), os.getenv("PATH"), os.getenv("HOME"))
print([name for name in os.environ if not name.startswith("PYTHON")])`,
    ends: "well",
    says: "None None /app\n['HOME']\n",
  },
  {
    name: "a chain of symbolic links that ends in two dots",
    language,
    code: `${ATTEMPT}
os.mkdir("/app/jail")
os.symlink(".", "/app/jail/lnk")
os.symlink("lnk/..", "/app/jail/out")
os.symlink("out/..", "/app/jail/further")
os.symlink("further/..", "/app/jail/beyond")
for way in ("out", "further", "beyond"):
    attempt(open, "/app/jail/" + way + "@outside@/canary.txt")
    attempt(open, "/app/jail/" + way + "/../../../..@outside@/canary.txt")
    attempt(open, "/app/jail/" + way + "@outside@/escaped", "w")`,
    ends: "well",
    says: ["FileNotFound", "Permission", "FileNotFound", "FileNotFound", "Permission", "FileNotFound"]
      .concat(["Permission", "Permission", "Permission"])
      .map((name) => `refused ${name}Error\n`)
      .join(""),
  },
  {
    name: "symbolic links to files of the host",
    language,
    code: `${ATTEMPT}
for at, target in enumerate(("/etc/passwd", "@outside@/canary.txt", "../../../../etc/passwd", "/proc/self/environ", "@outside@")):
    os.symlink(target, f"/app/link{at}")
    attempt(open, f"/app/link{at}")
os.symlink("@outside@/escaped", "/app/new")
attempt(open, "/app/new", "w")`,
    ends: "well",
    says: "refused FileNotFoundError\nrefused FileNotFoundError\nrefused PermissionError\n".concat(
      "refused FileNotFoundError\n".repeat(3),
    ),
  },
  {
    name: "symbolic links in circles and in long rows",
    language,
    code: `${ATTEMPT}
os.symlink("b", "/app/a"); os.symlink("a", "/app/b"); os.symlink("self", "/app/self")
for at in range(100): os.symlink(f"row{at + 1}", f"/app/row{at}")
os.symlink("/".join(["x"] * 2000), "/app/long")
os.symlink("wide/" * 300, "/app/wide")
for name in ("a", "self", "row0", "wide"): attempt(open, "/app/" + name)
attempt(os.symlink, "x" * 100_000, "/app/huge")
attempt(os.symlink, "", "/app/empty")`,
    ends: "well",
    says: `${"refused OSError\n".repeat(5)}refused FileNotFoundError\n`,
  },
  {
    name: "hard links to what is not the guest's",
    language,
    code: `${ATTEMPT}
attempt(os.link, "@outside@/canary.txt", "/app/canary")
attempt(os.link, "/etc/passwd", "/app/passwd")
attempt(os.link, "/app", "/app/again")
import json
attempt(os.link, json.__file__, "/app/library.py")
attempt(os.link, "/dev/control", "/app/control")`,
    ends: "well",
  },
  {
    name: "renames of what the session stands on",
    language,
    code: `${ATTEMPT}
import json
library = os.path.dirname(os.path.dirname(json.__file__))
for old, new in (("/app", "/elsewhere"), ("/dev", "/gone"), (library, "/gone"), ("/", "/root"), ("/dev/control", "/app/c"),
                 ("@outside@/canary.txt", "/app/canary"), ("/app", "/app/inside"), ("..", "x"), (json.__file__, "/app/json.py")):
    attempt(os.rename, old, new)
attempt(os.rename, "/app", "@outside@/escaped")`,
    ends: "well",
  },
  {
    name: "removes everything there is",
    language,
    code: `
import os, shutil, sys
shutil.rmtree("/", ignore_errors=True)
for name in ("/app", "/tmp", "/dev/control", "/dev", "/data", "/python", sys.executable or "/x"):
    for remove in (os.remove, os.rmdir):
        try: remove(name)
        except OSError: pass
print(os.path.exists("/dev/control"))`,
    ends: ["well", "badly"],
  },
  {
    name: "writes into the library",
    language,
    code: `${ATTEMPT}
import json
attempt(open, json.__file__, "w")
attempt(open, json.__file__, "r+")
attempt(os.remove, json.__file__)
attempt(os.truncate, json.__file__, 0)
attempt(os.utime, json.__file__)
attempt(os.mkdir, os.path.dirname(json.__file__) + "/escaped")
attempt(os.symlink, "/app", os.path.dirname(json.__file__) + "/link")`,
    ends: "well",
    says: "refused OSError\n".repeat(7),
  },
  {
    name: "plants modules that shadow the library",
    language,
    code: `
import os
for name in ("json", "traceback", "linecache", "io", "os", "codeop", "ast", "sitecustomize", "usercustomize", "encodings/__init__"):
    os.makedirs(os.path.dirname(f"/app/{name}.py"), exist_ok=True)
    with open(f"/app/{name}.py", "w") as file: file.write("raise SystemExit(9)\\nwhile True: pass")
print("planted")`,
    ends: "well",
    says: "planted\n",
  },
  {
    name: "a descriptor of a folder is no way up",
    language,
    code: `${ATTEMPT}
root = os.open("/", os.O_RDONLY)
app = os.open("/app", os.O_RDONLY)
for folder in (root, app):
    attempt(os.open, "../../../../etc/passwd", os.O_RDONLY, dir_fd=folder)
    attempt(os.open, "@outside@/canary.txt", os.O_RDONLY, dir_fd=folder)
    attempt(os.open, "..", os.O_RDONLY, dir_fd=folder)`,
    ends: "well",
  },
  {
    name: "names that are no names",
    language,
    code: `${ATTEMPT}
for name in ("a\\0b", "/app/\\0/etc/passwd", "\\udcff\\udcfe", "x" * 256, "x" * 100_000, "", "/" * 5000, "a/" * 5000):
    attempt(open, name, "w")
for name in ("new\\nline", "\\x1b[2J", "con", "..\\\\..\\\\escaped", "C:\\\\escaped", "\\u202e", "~", "-rf"):
    with open(name, "w") as file: file.write("x")
print(len(os.listdir("/app")))`,
    ends: "well",
  },
  {
    name: "writes more bytes than it may",
    language,
    options: SMALL,
    code: `
import errno
try:
    with open("/app/big", "wb", buffering=0) as file:
        while True: file.write(b"x" * 10_000)
except OSError as error: print(errno.errorcode[error.errno])
try:
    for at in range(10_000):
        with open("/app/again", "wb") as file: file.write(b"x" * 10_000)
except OSError as error: print(errno.errorcode[error.errno])`,
    ends: "well",
    says: "ENOSPC\nENOSPC\n",
  },
  {
    name: "makes files large without writing to them",
    language,
    options: SMALL,
    code: `${ATTEMPT}
attempt(lambda: open("/app/a", "wb").truncate(1 << 40))
def far(where):
    with open("/app/b", "wb", buffering=0) as file:
        file.seek(where); file.write(b"x")
attempt(far, 1 << 30)
attempt(far, (1 << 63) - 1)
with open("/app/c", "wb") as file:
    attempt(os.posix_fallocate, file.fileno(), 0, 1 << 40)
    attempt(os.ftruncate, file.fileno(), (1 << 63) - 1)`,
    ends: "well",
  },
  {
    name: "makes more files than it may",
    language,
    options: SMALL,
    code: `
import errno, os
def until_refused(make):
    for at in range(1000):
        try: make(at)
        except OSError as error: return errno.errorcode[error.errno]
print(until_refused(lambda at: open("/app/" + "n" * 250 + str(at), "w").close()))
print(until_refused(lambda at: os.mkdir(f"/app/d{at}")))
print(until_refused(lambda at: os.symlink("x", f"/app/s{at}")))`,
    ends: "well",
    says: "ENOSPC\nENOSPC\nENOSPC\n",
  },
  {
    name: "folders deeper than any path",
    language,
    options: { limits: { files: 3000 } },
    code: `
import os
name = "d" * 200
here = os.open("/app", os.O_RDONLY)
depth = 0
try:
    while True:
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        depth += 1
except OSError: print(depth > 1000)`,
    ends: "well",
    says: "True\n",
  },
  {
    name: "opens files until there is no descriptor left",
    language,
    options: SMALL,
    code: `
import errno, os
open("/app/file", "w").close()
held = []
try:
    while True: held.append(os.open("/app/file", os.O_RDONLY))
except OSError as error: print(errno.errorcode[error.errno], len(held) < 32)
for fd in held: os.close(fd)
with open("/app/file") as file: print(repr(file.read()))`,
    ends: "well",
    says: "EMFILE True\n''\n",
  },
  {
    name: "keeps removed files open to hide what they hold",
    language,
    options: SMALL,
    code: `
import errno, os
held = []
try:
    for at in range(1000):
        held.append(open("/app/hidden", "wb", buffering=0))
        os.remove("/app/hidden")
        held[-1].write(b"x" * 20_000)
except OSError as error: print(errno.errorcode[error.errno])`,
    ends: "well",
    says: "ENOSPC\n",
  },
];
