// Packs every public package, installs the tarballs into an empty project, and uses them there as a newcomer would.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

interface Workspace {
  readonly name: string;
  readonly location: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, unknown>>;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bursar-packed-"));
const project = join(folder, "project");
const libraryProject = join(folder, "library");
const workspaces = JSON.parse(
  execFileSync("npm", ["query", ".workspace"], { cwd: root, encoding: "utf8" }),
) as readonly Workspace[];
const published = workspaces.filter((workspace) => workspace.private !== true);
const hasOwnSqlite = Number.parseInt(process.versions.node, 10) >= 22;

/** Packs a workspace from a copy, so that nothing of the repository changes while other tests run. */
function packWorkspace({ name, location }: Workspace): string {
  const copy = join(folder, "copies", name);
  cpSync(join(root, location), copy, { recursive: true, filter: (path) => !/[\\/](?:node_modules|test)$/.test(path) });
  if (name === "@bursar/cli") cpSync(join(root, "apps", "web", "dist"), join(copy, "web"), { recursive: true });
  const target = join(folder, "tarballs", name.replace("/", "-"));
  mkdirSync(target, { recursive: true });
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", target], { cwd: copy });
  return join(target, readdirSync(target)[0] ?? "");
}

function installInto(path: string, tarballs: readonly string[]): void {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const options = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...options, ...tarballs], { cwd: path, stdio: "pipe" });
}

function runModule(path: string, source: string): { readonly status: number | null; readonly output: string } {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const args = ["--input-type=module", "--eval", source];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: path, encoding: "utf8", env });
  return { status, output: `${stdout}${stderr}`.trim() };
}

function sizeOf(path: string): number {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

beforeAll(() => {
  const tarballs = new Map(published.map((workspace) => [workspace.name, packWorkspace(workspace)]));
  installInto(project, [...tarballs.values()]);
  installInto(libraryProject, [tarballs.get("bursar") ?? ""]);
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("npm install bursar", () => {
  test("brings what stops a call that does not fit", () => {
    const { status, output } = runModule(
      libraryProject,
      `import { Gate, MemoryStore } from "bursar";
       const gate = new Gate({ store: new MemoryStore() });
       await gate.open("run", { limits: { steps: 1 } });
       const call = () => gate.call({ budget: "run", capability_id: "tool", kind: "tool", asked: {} }, async () => ({ value: 1 }));
       console.log((await call()).kind, (await call()).kind);`,
    );

    expect({ status, output }).toEqual({ status: 0, output: "done refused" });
  });

  test("says which command brings SQLite where Node has none", () => {
    const { output } = runModule(
      libraryProject,
      `import { openStore } from "bursar";
       try {
         const store = await openStore("sqlite:store.db");
         await store[Symbol.asyncDispose]();
         console.log("opened");
       } catch (error) {
         console.log(error.message);
       }`,
    );

    expect(output).toContain(hasOwnSqlite ? "opened" : "npm install @photostructure/sqlite");
  });

  test("installs at most 12 MB", () => {
    expect(sizeOf(join(libraryProject, "node_modules")) / 2 ** 20).toBeLessThanOrEqual(12);
  });
});

describe("every public entry", () => {
  const entries = published.flatMap(({ name, exports = {} }) =>
    Object.keys(exports)
      .filter((path) => path !== "./package.json")
      .map((path) => `${name}${path.slice(1)}`),
  );

  const isCode = (entry: string) => !entry.endsWith(".json");

  test.for(entries.filter((entry) => !isCode(entry)))("%s is there as JSON", (entry) => {
    const source = `import { readFileSync } from "node:fs";
      JSON.parse(readFileSync(new URL(import.meta.resolve(${JSON.stringify(entry)})), "utf8"));`;

    expect(runModule(project, source)).toEqual({ status: 0, output: "" });
  });

  test.for(entries.filter((entry) => isCode(entry) && entry !== "bursar/otel"))(
    "%s can be imported without the optional peers",
    (entry) => {
      // To import bursar/register is to use it, and it wants a budget.
      const source = `process.env.BURSAR_BUDGET = "steps=1"; await import(${JSON.stringify(entry)});`;

      expect(runModule(project, source)).toMatchObject({ status: 0 });
    },
  );

  test("bursar/otel names the peer it is for", () => {
    expect(runModule(project, 'await import("bursar/otel");').output).toContain(
      "Cannot find package '@opentelemetry/api'",
    );
  });
});

test("the command line runs", () => {
  const command = join(project, "node_modules", "@bursar", "cli", "bin", "bursar.js");
  const version = JSON.parse(readFileSync(join(root, "apps", "cli", "package.json"), "utf8")).version;
  const options = { cwd: project, encoding: "utf8" } as const;

  expect(execFileSync(process.execPath, [command, "--version"], options)).toContain(version);
  writeFileSync(join(project, "sum.py"), "print(sum(range(10)))\n");
  expect(execFileSync(process.execPath, [command, "exec", "sum.py"], options)).toContain("45");
});
