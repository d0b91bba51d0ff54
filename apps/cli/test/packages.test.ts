import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StatusLine } from "../src/terminal/status-line.js";
import { bursar } from "./run.js";

const folder = await mkdtemp(join(tmpdir(), "bursar-cli-"));
/** Kept between runs, because preparing the interpreter takes seconds. */
const XDG_CACHE_HOME = fileURLToPath(new URL("../../../node_modules/.cache/bursar-sandbox-tests/xdg", import.meta.url));
const env = { BURSAR_PACKAGES: join(folder, "packages"), XDG_CACHE_HOME };
const other = join(folder, "other");

beforeAll(() => {
  const { status, stdout, stderr } = bursar(["packages", "add", "tabulate", "jinja2", "--source", "debian"], env);
  if (status !== 0) throw new Error(`these tests fetch real packages from Debian and could not: ${stderr}`);
  expect(stderr).toBe("");
  expect(stdout).toContain(`folder      ${env.BURSAR_PACKAGES}`);
  expect(stdout).toMatch(/added {7}tabulate [\d.]+, Jinja2 [\d.]+, MarkupSafe [\d.]+\n/);
  expect(stdout).toMatch(/compiled {4}\d\d modules\n/);
  expect(stdout).toMatch(/note {8}MarkupSafe: left out\s+markupsafe\/_speedups/);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("bursar packages", () => {
  test("lists what is there, to people and to programs", () => {
    const { status, stdout, stderr } = bursar(["packages"], env);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^ {2}Jinja2 +[\d.]+ +\S+ +debian +[\d.]+ KiB$/m);
    expect(stdout).toContain(`in ${env.BURSAR_PACKAGES}`);
    const report = JSON.parse(bursar(["packages", "list", "--json"], env).stdout);
    expect(report).toMatchObject({ ok: true, folder: env.BURSAR_PACKAGES, damaged: [] });
    expect(report.packages.map(({ name }: { name: string }) => name)).toEqual(["Jinja2", "MarkupSafe", "tabulate"]);
    expect(report.packages[2]).toMatchObject({ source: "debian", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(bursar(["packages", "--folder", other], env)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("bursar packages add openpyxl"),
    });
  });

  test("programs can import what was added", () => {
    const code = "import tabulate; print(tabulate.tabulate([[1]], tablefmt='plain'))";
    expect(bursar(["exec", "--quiet", "--package", "tabulate", "-c", code], env)).toEqual({
      status: 0,
      stdout: "1\n",
      stderr: "",
    });
  });

  test("compiles once, also what was added without", () => {
    const add = (...flags: readonly string[]) =>
      JSON.parse(bursar(["packages", "add", "tabulate", "--source", "debian", "--json", ...flags], env).stdout);
    expect(add()).toMatchObject({ ok: true, added: [], compiled: 0 });
    expect(add("--folder", other, "--no-compile")).toMatchObject({
      ok: true,
      folder: other,
      added: [expect.stringMatching(/^tabulate /)],
      compiled: null,
    });
    expect(add("--folder", other)).toMatchObject({ ok: true, added: [], compiled: 1 });
  });

  test("states licences, by name and whole", () => {
    const { status, stdout } = bursar(["packages", "licences"], env);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}tabulate +[\d.]+ +(Expat|MIT)$/m);
    const whole = bursar(["packages", "licences", "tabulate", "--texts"], env).stdout;
    expect(whole).toMatch(/^tabulate [\d.]+: (Expat|MIT)\n=+\n/);
    expect(whole).toContain("Permission is hereby granted");
    expect(whole).not.toContain("Jinja2");
    const report = JSON.parse(bursar(["packages", "licences", "jinja2", "--json"], env).stdout);
    expect(report.licences.map(({ name }: { name: string }) => name)).toEqual(["Jinja2", "MarkupSafe"]);
    expect(report.licences[0]).not.toHaveProperty("texts");
  });

  test("removes packages, but not what others need", () => {
    const away = join(folder, "away");
    const run = (...args: readonly string[]) => bursar(["packages", ...args, "--folder", away], env);
    expect(run("add", "jinja2", "--source", "debian", "--no-compile").status).toBe(0);
    expect(run("remove", "markupsafe")).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/^bursar: markupsafe is needed by Jinja2 [\d.]+; remove that first\n$/),
    });
    expect(run("remove", "jinja")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("did you mean Jinja2?"),
    });
    expect(run("remove", "markupsafe", "jinja2")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/removed {5}jinja2 [\d.]+, markupsafe [\d.]+\n/),
    });
    expect(JSON.parse(run("remove", "jinja2", "--json").stdout)).toMatchObject({
      ok: false,
      error: { code: "package_missing" },
    });
    expect(run("list").stdout).toContain("no packages in");
  });

  test("says which package is damaged", () => {
    const record = JSON.parse(bursar(["packages", "list", "--json", "--folder", other], env).stdout).packages[0];
    const file = join(other, "tabulate", record.version, "package.json");
    writeFileSync(file, readFileSync(file, "utf8").slice(0, -20));
    const { status, stdout } = bursar(["packages", "list", "--folder", other], env);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^✗ tabulate [\d.]+ is damaged: .*; add it again, or remove it$/m);
    expect(JSON.parse(bursar(["packages", "licences", "--json", "--folder", other], env).stdout).ok).toBe(false);
  });

  test("refuses what cannot be, and says what could", () => {
    const add = (...args: readonly string[]) => bursar(["packages", "add", ...args], env);
    const failed = (status: number, message: string | RegExp) =>
      expect.objectContaining({ status, stdout: "", stderr: expect.stringMatching(message) });
    expect(add("tabulat", "--source", "debian")).toEqual(failed(1, /did you mean tabulate\?\n$/));
    expect(add("numpy", "--source", "debian")).toEqual(failed(1, /^bursar: numpy is native/));
    expect(add("not a name")).toEqual(failed(2, /^bursar: "not a name" is no package requirement/));
    expect(add()).toEqual(failed(2, /^bursar: name at least one package.*\nSee bursar packages --help\.\n$/));
    expect(add("tabulate", "--source", "debain")).toEqual(failed(2, /did you mean debian\?/));
    expect(add("tabulate", "--folde", "x")).toEqual(failed(2, /did you mean --folder\?/));
    expect(bursar(["packages", "lst"], env)).toEqual(failed(2, /did you mean list\?/));
    expect(bursar(["packages", "list", "tabulate"], env)).toEqual(failed(2, /"tabulate" is not expected here/));
    const { status, stdout } = add("not a name", "--json");
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "package_name" } });
  });

  test.each(["", "list", "add", "remove", "licences"])("explains itself: %s", (name) => {
    const command = name === "" ? [] : [name];
    const { status, stdout } = bursar(["packages", ...command, "--help"], env);
    expect(status).toBe(0);
    expect(stdout).toContain("Usage: bursar packages");
    expect(stdout).toMatch(/\nExit codes:/);
    expect(stdout).toMatch(/\nExamples:\n {2}bursar packages/);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(bursar(["packages", "help", ...command], env).stdout).toBe(stdout);
  });
});

describe("the status line", () => {
  test("is redrawn in place, no wider than the screen, and gone at the end", () => {
    const written: string[] = [];
    const line = new StatusLine({ write: (text) => written.push(text), columns: () => 20 });
    line.show("looking");
    line.show("downloading a-very-long-name\x1b[2J.deb");
    line[Symbol.dispose]();
    expect(written).toEqual(["\r\x1b[K  looking …", "\r\x1b[K  downloading a-ve…", "\r\x1b[K"]);
  });

  test("is not there without a terminal", () => {
    const line = new StatusLine(null);
    line.show("looking");
    expect(() => line[Symbol.dispose]()).not.toThrow();
  });
});
