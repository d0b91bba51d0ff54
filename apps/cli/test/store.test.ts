import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, readAmounts } from "bursar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bursar, inOne, MAIN } from "./run.js";

const folder = await mkdtemp(join(tmpdir(), "bursar-cli-"));
const at = (name: string) => join(folder, name);
const BURSAR_STORE = `sqlite:${at("x.db")}`;
const env = { BURSAR_STORE };

beforeAll(async () => {
  await using store = await openStore(BURSAR_STORE);
  const limits = readAmounts({ cost_usd: 1, steps: 100 });
  for (const id of ["run-1", "run-2"]) {
    const opening = { id, scope: "run", grant: { kind: "limits", limits } } as const;
    const asked = readAmounts({ cost_usd: 0.1, steps: 1 });
    await store.apply([
      { op: "open", parent: null, opening },
      { op: "reserve", budget: id, call: `${id}/1`, kind: "model", asked },
      { op: "commit", call: `${id}/1`, used: asked },
    ]);
  }
  await store.apply([
    { op: "end", budget: "run-1" },
    { op: "reserve", budget: "run-2", call: "open", kind: "tool", asked: readAmounts({ steps: 1 }), expires: 4e12 },
  ]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the store of the configuration is looked after, as runs are in it; a flag comes first", async () => {
  await using store = await openStore(`sqlite:${at("configured.db")}`);
  writeFileSync(at("own.yaml"), `store: ${JSON.stringify(`sqlite:${at("configured.db")}`)}\n`);
  const where = (...args: string[]) => JSON.parse(bursar(["store", "info", "--json", ...args], env).stdout).where;
  expect(where("--config", at("own.yaml"))).toBe(at("configured.db"));
  expect(where("--config", at("own.yaml"), "--store", BURSAR_STORE)).toBe(at("x.db"));
  expect(where()).toBe(at("x.db"));
  expect(store.dimensions).toBeDefined();
});

const MISTAKEN: readonly (readonly [readonly string[], number, string])[] = [
  [["store", "chekc"], 2, "the command store chekc is not known; did you mean check?"],
  [["store", "check", "--achive", "x"], 2, "did you mean --archive?"],
  [["store", "export"], 2, "the file to write (or -) is missing"],
  [["store", "export", "-", "--json"], 2, "--json and - exclude each other"],
  [["store", "archive", "x", "--older", "soon"], 2, "allowed: a number and s, m, h, d or w"],
  [["store", "archive", "x"], 2, "--older is missing"],
  [["store", "import", "/no/such/file"], 1, "/no/such/file is not there"],
  [["store", "import", "/"], 1, "is a folder"],
  [["store", "--store", "./x.db"], 2, "did you mean sqlite:./x.db?"],
  [["store", "--store", "memory:"], 2, "lives in the process that made it"],
  [["store", "--store", "sqlite:/no/such/x.db"], 1, "there is no store at /no/such/x.db"],
  [["store", "--store", "postgres://ada:secret@127.0.0.1:1/x"], 1, "cannot be reached"],
  [["store", "--store", "postgres:ada:secret@localhost/x"], 2, "percent-encode"],
  [["store", "--store", "postgres://ada:secret@localhost:99999/x"], 2, "percent-encode"],
  [["store", "--store", "postgres://ada:sec#secret@localhost/x"], 2, "percent-encode"],
  [["postgres://ada:secret@h/x"], 2, "did you forget --store?"],
  [["store", "postgres://ada:secret@h/x"], 2, "did you forget --store?"],
  [["store", "info", "postgres://ada:secret@h/x"], 2, "did you forget --store?"],
  [["store", "info", "postgres:ada:secret@h/x"], 2, "did you forget --store?"],
  [["store", "import", "postgres://ada:secret@h/x"], 2, "did you forget --store?"],
  [["store", "export", "x", "sqlite:x.db"], 2, "did you forget --store?"],
  [["verify", "postgres://ada:secret@h/x"], 2, "is not expected here"],
  [["store", "info", "ada:secret@h"], 2, "is not expected here"],
  [["store", "import", "ada:secret@h"], 1, "is not there"],
  [["store", "check", "--archive", "postgres://ada:secret@h/x"], 2, "did you mean --store?"],
  [["store", "archive", "x", "--older", "ada:secret@h"], 2, "--older is"],
  [["store", "--store", `sqlite:/${"x".repeat(300)}`], 1, "cannot be looked at"],
];
const mistaken = inOne(
  MISTAKEN.map(([args]) => args),
  env,
);

describe("bursar store", () => {
  test("tells what there is, to people and to programs", () => {
    const { status, stdout, stderr } = bursar(["store"], env);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(at("x.db"));
    expect(stdout).toContain("1 open, 1 ended");
    expect(stdout).toContain("call open of budget run-2");
    expect(stdout).not.toContain("\x1b");
    const report = JSON.parse(bursar(["store", "info", "--json"], env).stdout);
    expect(report).toMatchObject({ engine: "sqlite", budgets: { open: 1, ended: 1 }, calls: { all: 3, reserved: 1 } });
    expect(bursar(["store", "--json", "--store", BURSAR_STORE]).stdout).toBe(bursar(["store", "--json"], env).stdout);
  });

  test("finds a sound store sound, and says what is wrong with another", async () => {
    expect(bursar(["store", "check"], env)).toMatchObject({ status: 0, stdout: expect.stringContaining("✓ sound") });
    const other = at("tampered.db");
    expect(bursar(["store", "backup", other], env)).toMatchObject({ status: 0, stderr: "" });
    const bytes = readFileSync(other, "latin1").replace(
      '"cost_usd":0.1,"steps":1},"budget"',
      '"cost_usd":0.9,"steps":1},"budget"',
    );
    writeFileSync(other, bytes, "latin1");
    const { status, stdout } = bursar(["store", "check", "--store", `sqlite:${other}`]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^✗ chain run-[12]$/m);
    expect(stdout).toContain("its content does not match its hash");
    expect(stdout).toContain("→ restore a backup");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80 + folder.length);
    const report = JSON.parse(bursar(["store", "check", "--json", "--store", `sqlite:${other}`]).stdout);
    expect(report).toMatchObject({ ok: false, errors: 1, defects: [{ severity: "error" }] });
  });

  test("moves a store through a file and through a pipe", () => {
    const file = at("export.jsonl");
    expect(bursar(["store", "export", file], env)).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expect.stringMatching(/links +\d rows? holding 8 links/),
    });
    expect(bursar(["store", "export", file], env)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("nothing is overwritten"),
    });
    const second = `sqlite:${at("second.db")}`;
    expect(bursar(["store", "import", file, "--store", second])).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expect.stringMatching(/links +\d rows? holding 8 links/),
    });
    const { stdout } = bursar(["store", "export", "-", "--store", second]);
    const third = `sqlite:${at("third.db")}`;
    expect(bursar(["store", "import", "-", "--store", third, "--json"], {}, stdout)).toMatchObject({ status: 0 });
    expect(JSON.parse(bursar(["store", "check", "--json", "--store", third]).stdout)).toMatchObject({
      ok: true,
      calls: 3,
    });
    expect(bursar(["store", "import", "-", "--store", third], {}, stdout).stderr).toContain("is not empty");
    const cut = bursar(["store", "import", "-", "--store", `sqlite:${at("fourth.db")}`], {}, stdout.slice(0, 900));
    expect(cut).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/^bursar: the export is refused.*\n$/),
    });
    expect(existsSync(at("fourth.db"))).toBe(false);
  });

  test("archives, and the files verify", () => {
    const copy = `sqlite:${at("aged.db")}`;
    expect(bursar(["store", "backup", at("aged.db")], env).status).toBe(0);
    const none = bursar(["store", "archive", at("archive"), "--older", "30d", "--store", copy]);
    expect(none.stderr).toBe("");
    expect(none.stdout).toContain("0 chains");
    const all = bursar(["store", "archive", at("archive"), "--older", "0s", "--json", "--store", copy]);
    expect(JSON.parse(all.stdout)).toMatchObject({ ok: true, archived: [{ chain: "run-1", file: "run-1.jsonl" }] });
    expect(readdirSync(at("archive"))).toEqual(["run-1.jsonl"]);
    expect(bursar(["store", "check", "--archive", at("archive"), "--store", copy]).stdout).toMatch(
      /1 archived: 1 file verified[\s\S]*✓ sound/,
    );
    expect(bursar(["store", "check", "--store", copy]).stdout).toContain("1 archived: not checked without --archive");
    expect(bursar(["store", "vacuum", "--store", copy])).toMatchObject({ status: 0 });
    expect(bursar(["verify", at("archive/run-1.jsonl")])).toMatchObject({ status: 0 });
  });

  test("migrates, or only says whether there is something to do", () => {
    const url = `sqlite:${at("new.db")}`;
    expect(bursar(["store", "migrate", "--check", "--store", url]).status).toBe(1);
    expect(existsSync(at("new.db"))).toBe(false);
    expect(bursar(["store", "migrate", "--store", url]).stdout).toContain("from version 0 to");
    expect(bursar(["store", "migrate", "--check", "--store", url]).stdout).toContain("up to date");
  });

  test.each(MISTAKEN)("%j fails with %i and says why", (args, code, message) => {
    const { status, stdout, stderr } = mistaken(args);
    // Who asks for JSON gets that of a mistake, too, and nothing else.
    const [said, silent] = args.includes("--json") ? [stdout, stderr] : [stderr, stdout];
    expect([status, silent]).toEqual([code, ""]);
    expect(said).toContain(message);
    expect(said).not.toContain("secret");
    expect(said).not.toContain("    at ");
  });

  test("the URL of a store that makes no sense is no command line, also to programs", () => {
    const { status, stdout, stderr } = bursar(["store", "--json", "--store", "postgres://u:secret@[::1/x"]);
    expect([status, stderr]).toEqual([2, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "store_url" } });
    expect(stdout).not.toContain("secret");
  });

  test("a file that is no store is called so, also to programs", () => {
    writeFileSync(at("garbage.db"), "garbage ".repeat(1000));
    const { status, stdout, stderr } = bursar(["store", "--json", "--store", `sqlite:${at("garbage.db")}`]);
    expect([status, stderr]).toEqual([1, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "store_damaged" } });
  });

  test("an export that nobody reads to its end stops quietly", async () => {
    const child = spawn(process.execPath, [MAIN, "store", "export", "-"], { env: { ...process.env, ...env } });
    // At once: a small export could be through before anybody has stopped reading.
    child.stdout.destroy();
    let complaint = "";
    child.stderr.on("data", (data) => {
      complaint += String(data);
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(141);
    expect(complaint).toBe("");
  });

  test("what a check has found is in its exit code, even if nobody reads it", async () => {
    const codeOf = (file: string) => {
      const child = spawn(process.execPath, [MAIN, "store", "check", "--store", `sqlite:${at(file)}`]);
      child.stdout.destroy();
      return new Promise((resolve) => child.once("close", resolve));
    };
    expect([await codeOf("tampered.db"), await codeOf("x.db")]).toEqual([1, 0]);
  });
});

describe("bursar verify", () => {
  const chain = async () => {
    await using store = await openStore(BURSAR_STORE);
    const lines: string[] = [];
    for await (const line of store.chain("run-2")) lines.push(line);
    const head = await store.head("run-2");
    return { text: `${lines.join("\n")}\n`, head: `run-2:${head?.seq}:${head?.hash}`, lines };
  };

  test("verifies a file, and prints the head it ends with", async () => {
    const { text, head } = await chain();
    writeFileSync(at("run-2.jsonl"), text);
    const { status, stdout } = bursar(["verify", at("run-2.jsonl")]);
    expect(status).toBe(0);
    expect(stdout).toContain("✓ verified  4 links");
    expect(stdout).toContain(head);
    expect(stdout).toContain("Without --head");
    expect(bursar(["verify", at("run-2.jsonl"), "--head", head]).stdout).not.toContain("Without --head");
    expect(JSON.parse(bursar(["verify", "-", "--json"], {}, text).stdout)).toMatchObject({ ok: true, links: 4 });
  });

  test("names the first bad link, and a missing end when it knows the head", async () => {
    const { text, lines, head } = await chain();
    const changed = bursar(["verify", "-"], {}, text.replace('"cost_usd":0.1', '"cost_usd":0.2'));
    expect(changed).toMatchObject({ status: 1, stderr: "" });
    expect(changed.stdout).toContain("Line 2 (seq 1)");
    const cut = bursar(["verify", "-", "--head", head, "--json"], {}, lines.slice(0, -1).join("\n"));
    expect(cut.status).toBe(1);
    expect(JSON.parse(cut.stdout)).toMatchObject({ ok: false, reason: "truncated" });
    expect(bursar(["verify", "-"], {}, "garbage").status).toBe(1);
    expect(bursar(["verify", "-"], {}, "")).toMatchObject({ status: 1, stdout: expect.stringContaining("no links") });
  });

  test.each([
    [["verify"], 2, "the file to verify is missing"],
    [["verify", "a", "b"], 2, '"b" is not expected here'],
    [["verify", "a", "--head", "run-2:3:abc"], 2, "allowed: chain:seq:hash"],
    [["verify", "/no/such/file"], 1, "is not there"],
  ])("%j fails with %i and says why", (args, code, message) => {
    const { status, stderr } = bursar(args);
    expect(status).toBe(code);
    expect(stderr).toContain(message);
  });
});
