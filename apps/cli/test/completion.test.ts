import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type CommandEntry, readHelp, VALUES } from "../src/commands/completion-table.js";
import { bursar, MAIN, severally } from "./run.js";
import { openStage, type Stage } from "./runs-stage.js";

let entries: readonly CommandEntry[] = [];
const helps = new Map<string, string>();

/** Every command there is, and its help: as people find them, from the top. */
beforeAll(() => {
  const top = bursar(["--help"]).stdout;
  const names = readHelp("", top).commands.map(({ name }) => name);
  const paths = names.filter((name) => name !== "help");
  read(paths);
  const below = entries.flatMap(({ path, commands }) => commands.map(({ name }) => `${path} ${name}`));
  read(below);
});

function read(paths: readonly string[]): void {
  const said = severally(paths.map((path) => [...path.split(" "), "--help"]));
  for (const [at, path] of paths.entries()) helps.set(path, said[at]?.stdout ?? "");
  entries = [...entries, ...paths.map((path) => readHelp(path, helps.get(path) ?? ""))];
}

describe("every command", () => {
  test("has a help with its usage, examples and exit codes, no wider than a terminal", () => {
    expect(entries.length).toBeGreaterThan(30);
    for (const [path, help] of helps) {
      expect(help, path).toMatch(/^Usage: bursar /);
      expect(help, path).toContain("\nExamples:\n");
      expect(help, path).toContain("Exit codes:");
      expect(help, path).toMatch(/^ {2,}bursar .*$/m);
      for (const line of help.split("\n")) expect([...line].length, `${path}: ${line}`).toBeLessThanOrEqual(80);
    }
  });

  test("tells all the flags it takes, and no others", () => {
    const lines = entries.map(({ path }) => [...path.split(" "), "--qqqqqqqqqqqq"]);
    for (const [at, { status, stderr }] of severally(lines).entries()) {
      const { path, flags, commands } = entries[at] ?? { path: "", flags: [], commands: [] };
      expect(status, path).toBe(2);
      const [, known = ""] = /is not known; known: (.*)/.exec(stderr) ?? [];
      const told = flags.map(({ name }) => name).filter((name) => name.startsWith("--"));
      const taken = known.split(", ");
      // Without a command of its own, a group takes the flags of the one that it stands for then.
      const expected = commands.length === 0 ? taken : taken.filter((name) => told.includes(name));
      expect(told.toSorted(), path).toEqual(expected.toSorted());
    }
  });

  test("offers the nearest flag for one that is misspelt", () => {
    const lines = entries.map(({ path }) => [...path.split(" "), "--helpp"]);
    for (const { stderr } of severally(lines)) expect(stderr).toContain("did you mean --help?");
  });

  test("values are offered only for flags that there are", () => {
    const flags = entries.flatMap(({ path, flags }) => flags.map(({ name }) => `${path} ${name}`));
    expect(Object.keys(VALUES).filter((name) => !flags.includes(name))).toEqual([]);
  });
});

/** How each shell is asked what it would offer. */
const ASK: Readonly<Record<string, string>> = {
  bash: `source "$1"; COMP_LINE=$2; shift 2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bursar; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `compdef() { :; }
_describe() { local name=$argv[-1]; print -l -- "\${(@)\${(@P)name}%%:*}" }
compadd() { local name=$argv[-1]; print -l -- "\${(@P)name}" }
_files() { print -l -- $words[CURRENT]*(N) }
source "$1"; BUFFER=$2; shift 2; words=("$@"); CURRENT=$#words; _bursar`,
  fish: `source $argv[1]; complete -C $argv[2] | string split -f 1 \\t`,
};
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  bash: ["--norc", "-c"],
  zsh: ["-f", "-c"],
  fish: ["--no-config", "-c"],
};
const shells = Object.keys(ASK).filter((shell) => spawnSync(shell, ["-c", "true"]).status === 0);

const scripts = new Map<string, string>();

/** The script, made once: it takes the help of all commands. */
function scriptFor(shell: string): string {
  const known = scripts.get(shell);
  if (known !== undefined) return known;
  const { status, stdout, stderr } = bursar(["completion", shell]);
  expect([status, stderr]).toEqual([0, ""]);
  scripts.set(shell, stdout);
  return stdout;
}

/** So often a shell is asked that offers nothing: on a busy machine a look into the store may not come back in time. */
const TRIES = 5;

/** What a shell offers at the end of a line, where it should offer something. */
function found(stage: Stage, shell: string, line: string): readonly string[] {
  for (let turn = 1; turn < TRIES; turn++) {
    const some = offered(stage, shell, line);
    if (some.length > 0) return some;
  }
  return offered(stage, shell, line);
}

/** What a shell offers at the end of a line. */
function offered(stage: Stage, shell: string, line: string): readonly string[] {
  const bin = stage.at("bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "bursar"), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(bin, "bursar"), 0o755);
  const script = stage.at(`completion.${shell}`);
  writeFileSync(script, scriptFor(shell));
  const name = shell === "fish" ? [] : [shell];
  const words = [...(OPTIONS[shell] ?? []), ASK[shell] ?? "", ...name, script, line, ...line.split(" ")];
  const env = { ...process.env, ...stage.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const { stdout, stderr } = spawnSync(shell, words, { env, cwd: stage.at("."), encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((each) => each !== "" && (shell === "bash" || each.startsWith(lastOf(line))));
}

function lastOf(line: string): string {
  return line.split(" ").at(-1) ?? "";
}

test("bash is there to be asked", () => {
  expect(shells).toContain("bash");
});

describe.each(shells)("completion in %s", (shell) => {
  test("knows commands, commands below them, flags and their values", () => {
    using stage = openStage();
    expect(offered(stage, shell, "bursar ap")).toEqual(["approvals", "approve"]);
    expect(offered(stage, shell, "bursar store ch")).toEqual(["check"]);
    expect(offered(stage, shell, "bursar help store ch")).toEqual(["check"]);
    expect(offered(stage, shell, "bursar approve --ext")).toEqual(["--extend"]);
    expect(offered(stage, shell, "bursar runs --status c")).toEqual(expect.arrayContaining(["completed", "cancelled"]));
    writeFileSync(stage.at("tools.mjs"), "");
    expect(offered(stage, shell, "bursar worker --module too")).toEqual(["tools.mjs"]);
    expect(offered(stage, shell, "bursar nonsense ")).toEqual([]);
  });

  test("looks up runs and requests in the store, and is silent without one", () => {
    using stage = openStage();
    expect(offered(stage, shell, "bursar show ")).toEqual([]);
    const input = JSON.stringify({ words: ["a"], letter: true });
    stage.run("run", stage.module, "--agent", "--input", input, "--id", "nightly");
    expect(found(stage, shell, "bursar show ni")).toEqual(["nightly"]);
    const [request] = stage.json("approvals").said.approvals as unknown as readonly [{ readonly id: string }];
    expect([...found(stage, shell, "bursar approve ")].sort()).toEqual([request.id, "nightly"].sort());
    stage.run("tokens", "create", "--name", "ann", "--role", "viewer");
    expect([...found(stage, shell, "bursar chain ")].sort()).toEqual(["bursar:server", "nightly"]);
    expect(found(stage, shell, "bursar verify bur")).toEqual(["bursar:server"]);
    stage.run("keys", "create", "--limits", "steps=1");
    const [key] = stage.json("keys").said.keys as unknown as readonly [{ readonly budget: string }];
    expect([...found(stage, shell, "bursar extend ")].sort()).toEqual([key.budget, "nightly"].sort());
    const { env } = stage;
    const elsewhere: Stage = { ...stage, env: { ...env, BURSAR_STORE: `sqlite:${stage.at("none.db")}` } };
    expect(offered(elsewhere, shell, "bursar show ")).toEqual([]);
    expect(found(elsewhere, shell, `bursar show --store ${env.BURSAR_STORE} ni`)).toEqual(["nightly"]);
  });
});

test("what is no shell is refused; what the scripts ask never complains", () => {
  const [missing, unknown, ids, kind] = severally(
    [["completion"], ["completion", "fihs"], ["completion", "ids", "runs"], ["completion", "ids", "nonsense"]],
    { BURSAR_STORE: "sqlite:/nowhere/at/all.db" },
  );
  expect(missing).toMatchObject({ status: 2, stderr: expect.stringContaining("known: bash, zsh, fish") });
  expect(unknown).toMatchObject({ status: 2, stderr: expect.stringContaining("did you mean fish?") });
  expect(ids).toEqual({ status: 0, stdout: "", stderr: "" });
  expect(kind).toEqual({ status: 0, stdout: "", stderr: "" });
});
