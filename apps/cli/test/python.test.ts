import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { npmPython } from "@bursar/sandbox/guests";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuildSteps, clockOf } from "../src/commands/python-steps.js";
import { bursar } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-python-"));
afterAll(() => rmSync(folder, { recursive: true }));

const BUILD = new URL("../../../packages/sandbox/guest/build/", import.meta.url);
/** Kept between runs, because preparing the interpreter takes seconds. */
const XDG_CACHE_HOME = fileURLToPath(new URL("../../../node_modules/.cache/bursar-sandbox-tests/xdg", import.meta.url));
const none = join(folder, "none");
const guests = join(folder, "guests");

interface Tools {
  missingTools(): readonly string[];
  compilerVersions(): Promise<object>;
}

interface Fingerprint {
  readonly SCRIPTS_HASH: string;
  buildHash(compiler: object): string;
}

/** The hash that a build on this machine would have; where there is no compiler, any will do. */
async function hashOfBuild(fingerprint: Fingerprint): Promise<string> {
  const tools = (await import(new URL("tools.mjs", BUILD).href)) as Tools;
  if (tools.missingTools().length > 0) return "0".repeat(64);
  return fingerprint.buildHash(await tools.compilerVersions());
}

/** A guest that lies where a build on this machine would have put it, so that nothing has to be compiled. */
async function layGuest(): Promise<{ readonly place: string; readonly sha256: string; readonly hash: string }> {
  const fingerprint = (await import(new URL("fingerprint.mjs", BUILD).href)) as Fingerprint;
  const hash = await hashOfBuild(fingerprint);
  const place = join(guests, hash.slice(0, 16));
  mkdirSync(place, { recursive: true });
  const file = (name: string, text: string) => {
    writeFileSync(join(place, name), text);
    return { file: name, sha256: createHash("sha256").update(text).digest("hex"), bytes: text.length };
  };
  const wasm = file("python.wasm", "a module");
  const manifest = {
    format: 1,
    name: "cpython",
    language: "python",
    version: "3.11.2",
    home: "/python",
    stackPointer: 0,
    wasm,
    stdlib: file("python311.zip", "a library"),
    entry: { kind: "export", name: "bursar_run" },
    build: { hash, scripts: fingerprint.SCRIPTS_HASH },
  };
  writeFileSync(join(place, "manifest.json"), JSON.stringify(manifest));
  return { place, sha256: wasm.sha256, hash };
}

/** The same guest as a package that Node finds. */
function install(name: string): { readonly NODE_PATH: string; readonly place: string } {
  const NODE_PATH = join(folder, name, "node_modules");
  const place = join(NODE_PATH, "@bursar", "guest-cpython");
  cpSync(laid.place, place, { recursive: true });
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "@bursar/guest-cpython", version: "3.11.2-1" }));
  return { NODE_PATH, place };
}

let laid: Awaited<ReturnType<typeof layGuest>>;
beforeAll(async () => {
  laid = await layGuest();
});

describe("bursar python show", () => {
  test("tells of the guest that programs really run in", () => {
    const env = { BURSAR_GUESTS: none, BURSAR_GUEST: "fast", XDG_CACHE_HOME };
    const report = JSON.parse(bursar(["python", "show", "--json"], env).stdout);
    const { stdout } = bursar(["exec", "--json", "-c", "import sys; print(sys.version.split()[0])"], env);
    const result = JSON.parse(stdout);

    expect(report).toMatchObject({ ok: true, guest: "npm", reason: "none", guests: none, library: null });
    expect(report.fuel).toEqual(npmPython().fuel);
    expect(report.features.modules).toContain("sqlite3");
    expect(result.stdout).toBe(`${report.version}\n`);
    expect(JSON.stringify(result.metadata)).toContain(report.sha256);
  });

  test("prefers one that was built, unless it is not wanted", () => {
    const show = (env: Readonly<Record<string, string>>) =>
      JSON.parse(bursar(["python", "show", "--json"], { BURSAR_GUESTS: guests, ...env }).stdout);
    const { place, sha256 } = laid;

    expect(show({ BURSAR_GUEST: "fast" })).toEqual({
      ok: true,
      guest: "fast",
      reason: "built",
      name: "cpython",
      version: "3.11.2",
      sha256,
      guests,
      module: join(place, "python.wasm"),
      library: join(place, "python311.zip"),
      features: { modules: [], absent: [] },
      fuel: null,
    });
    expect(show({ BURSAR_GUEST: "npm" })).toMatchObject({ guest: "npm", reason: "refused" });
  });

  test("prefers one that was installed to the slow one, and one that was built to that", () => {
    const { NODE_PATH, place } = install("sound");
    const show = (env: Readonly<Record<string, string>>) =>
      JSON.parse(bursar(["python", "show", "--json"], { NODE_PATH, BURSAR_GUEST: "fast", ...env }).stdout);

    expect(show({ BURSAR_GUESTS: none })).toMatchObject({
      guest: "fast",
      reason: "installed",
      module: join(place, "python.wasm"),
      sha256: laid.sha256,
    });
    expect(show({ BURSAR_GUESTS: guests })).toMatchObject({ reason: "built", module: join(laid.place, "python.wasm") });
    expect(show({ BURSAR_GUESTS: none, BURSAR_GUEST: "npm" })).toMatchObject({ guest: "npm", reason: "refused" });
    const { stdout } = bursar(["python", "show"], { NODE_PATH, BURSAR_GUEST: "fast", BURSAR_GUESTS: none });
    const text = stdout.replaceAll(/\s+/g, " ");
    expect(text).toContain("CPython 3.11.2, the fast one, installed from npm");
    expect(text).toContain("@bursar/guest-cpython is installed; BURSAR_GUEST=npm would leave it out");
  });

  test("refuses an installed one that is not sound, as programs do, and says what to do", () => {
    const { NODE_PATH, place } = install("damaged");
    writeFileSync(join(place, "python.wasm"), "another module");
    const env = { NODE_PATH, BURSAR_GUEST: "fast", BURSAR_GUESTS: none, XDG_CACHE_HOME };
    const message =
      `@bursar/guest-cpython in ${place} cannot be used: python.wasm is not what its manifest says. ` +
      "Install it again, or set BURSAR_GUEST=npm to do without";

    expect(bursar(["python", "show"], env)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
    const run = ["exec", "-c", "print(1)", "--quiet"];
    expect(bursar(run, env)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
    expect(bursar(run, { ...env, BURSAR_GUEST: "npm" })).toMatchObject({ status: 0, stdout: "1\n" });
  });

  test("tells people what they can do", () => {
    const show = (where: string) => {
      const { status, stdout, stderr } = bursar(["python", "show", "--folder", where], { BURSAR_GUEST: "fast" });
      expect([status, stderr]).toEqual([0, ""]);
      return stdout.replaceAll(/\s+/g, " ");
    };
    const damaged = join(folder, "damaged");
    mkdirSync(join(damaged, "0123456789abcdef"), { recursive: true });

    expect(show(guests)).toContain("guest CPython 3.11.2, the fast one, built on this machine");
    expect(show(guests)).toContain(`SHA-256 ${laid.sha256}`);
    expect(show(guests)).toContain("fuel not measured; advice goes by what each import burns");
    expect(show(none)).toMatch(/fuel \d+k for an empty program, 1\.8B for 1,000,000 turns of for/);
    expect(show(none)).toContain(`none was built in ${none}; bursar python build makes one that is faster`);
    expect(show(damaged)).toContain("is damaged, or of another kind; bursar python build makes it anew");
  });
});

describe("bursar python build", () => {
  test("does not build again what is there", () => {
    const build = (...flags: readonly string[]) => bursar(["python", "build", ...flags], { BURSAR_GUESTS: guests });
    const { place, sha256, hash } = laid;

    const { status, stdout, stderr } = build();
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("CPython 3.11.2, there already");
    expect(stdout).toContain(place);
    expect(build("--quiet")).toEqual({ status: 0, stdout: "", stderr: "" });
    const report = JSON.parse(build("--json").stdout);
    expect(report).toMatchObject({ ok: true, built: false, folder: place, version: "3.11.2", sha256, hash, steps: [] });
    expect(bursar(["python", "build", "--folder", guests, "--quiet"], { BURSAR_GUESTS: none }).status).toBe(0);
  });

  test.each([
    [["python", "build", "--compilers", "0"], "--compilers is 0; allowed: a whole number from 1 to 256"],
    [["python", "build", "--compilers", "two"], "--compilers is two; allowed"],
    [["python", "build", "--fore"], "did you mean --force?"],
    [["python", "build", "--folder"], "--folder needs a value"],
    [["python", "build", "3.12"], '"3.12" is not expected here'],
    [["python", "bild"], "did you mean build?"],
    [["python", "show", "--quiet"], "the flag --quiet is not known"],
  ])("%s is refused", (args, message) => {
    const { status, stdout, stderr } = bursar(args, { BURSAR_GUESTS: none });
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
    expect(stderr).toContain("See bursar python --help.");
  });

  test.each(["", "show", "build"])("explains itself: %s", (name) => {
    const command = name === "" ? [] : [name];
    const { status, stdout } = bursar(["python", ...command, "--help"]);
    expect(status).toBe(0);
    expect(stdout).toContain("Usage: bursar python");
    expect(stdout).toMatch(/\nExit codes:/);
    expect(stdout).toMatch(/\nExamples:\n {2}bursar python/);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(bursar(["python", "help", ...command]).stdout).toBe(stdout);
    expect(bursar(["help", "python", ...command]).stdout).toBe(stdout);
    if (name === "") expect(bursar(["python"])).toMatchObject({ status: 0, stdout });
  });
});

describe("the steps of a build", () => {
  test("are one line that is redrawn, and gone at the end", () => {
    const written: string[] = [];
    let now = 5000;
    const steps = new BuildSteps({ write: (text) => written.push(text), columns: () => 40 }, () => now);
    steps.show("Fetching the sources");
    now += 83_000;
    steps.show("Compiling CPython");
    steps[Symbol.dispose]();
    expect(written).toEqual([
      "\r\x1b[K  0:00  Fetching the sources …",
      "\r\x1b[K  1:23  Compiling CPython …",
      "\r\x1b[K",
    ]);
  });

  test("are silent when nobody wants to know", () => {
    const steps = new BuildSteps(null);
    steps.show("Fetching the sources");
    expect(() => steps[Symbol.dispose]()).not.toThrow();
  });

  test("tell minutes and seconds", () => {
    expect([0, 59_999, 60_000, 125_000, 3_600_000].map(clockOf)).toEqual(["0:00", "0:59", "1:00", "2:05", "60:00"]);
  });
});
