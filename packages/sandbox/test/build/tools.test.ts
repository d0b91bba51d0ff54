import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { type BuildSettings, type BuildTools, type Commands, load, SCRIPTS, type Source } from "./scripts.js";

const settings = await load<BuildSettings>("settings.mjs");
const { installCommand, readVersions } = await load<BuildTools>("tools.mjs");
const { environment, outputOf, run } = await load<Commands>("command.mjs");
const { SOURCES } = await load<{ readonly SOURCES: readonly Source[] }>("sources.mjs");
const GUIDE = readFileSync(fileURLToPath(new URL("../../../../docs/GUESTS.md", import.meta.url)), "utf8");
const folder = mkdtempSync(join(tmpdir(), "bursar-tools-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** How somebody who is not root is told to install packages. */
function failureOf(packages: readonly string[]) {
  const program = `
    process.getuid = () => 1000;
    const { installTools } = await import(${JSON.stringify(`${SCRIPTS}tools.mjs`)});
    const failure = await installTools(${JSON.stringify(packages)}).catch((error) => error);
    console.log(JSON.stringify({ ...failure, message: failure.message }));`;
  const args = ["--input-type=module", "-e", program];
  return JSON.parse(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout);
}

describe("the packages of the compiler", () => {
  test("are told in the guide, all of them and no others", () => {
    const [, listed = ""] = /apt-get install --no-install-recommends ((?:\\\n|.)+)\n/.exec(GUIDE) ?? [];

    expect(listed.replaceAll("\\", " ").trim().split(/\s+/)).toEqual(Object.keys(settings.TOOLS));
  });

  test("are each known by a file that only they bring", () => {
    const files = Object.values(settings.TOOLS);

    expect(new Set(files).size).toBe(files.length);
    for (const file of files) expect(isAbsolute(file), file).toBe(true);
    // Its minimal part is what freezes modules, and comes with the whole.
    const covered = settings.COMPILER_PACKAGES.map((name) => name.replace(/-minimal$/, ""));
    for (const name of covered) expect(Object.keys(settings.TOOLS)).toContain(name);
  });

  test("have versions that do not depend on the machine", () => {
    expect(readVersions("wasi-libc\t0.0~git\nclang-19\t1:19.1.4-1\n")).toEqual({
      "clang-19": "1:19.1.4-1",
      "wasi-libc": "0.0~git",
    });
    const versions = ["b:amd64\t2\na\t1\n", "a\t1\nb:arm64\t2\n"].map((listed) => JSON.stringify(readVersions(listed)));
    expect(versions[0]).toBe(versions[1]);
  });

  test("are installed by one command, which is told to whoever may not", () => {
    expect(installCommand(["make", "bzip2"])).toBe("apt-get install -y --no-install-recommends make bzip2");
    const failure = failureOf(["clang-19", "make"]);

    expect(failure).toMatchObject({ exitCode: 3, missing: ["clang-19", "make"] });
    expect(failure.message).toContain("clang-19, make");
    // Where there is no apt-get, no command would help.
    if (failure.command !== null) {
      expect(failure.command).toBe(`sudo ${installCommand(["clang-19", "make"])}`);
      expect(failure.message).toContain(failure.command);
    }
  });
});

describe("what is promised of the guest", () => {
  const { PROMISED_MODULES, ABSENT_MODULES, OMITTED_FILES, EXPORTS, LICENCES } = settings;

  test("does not contradict itself", () => {
    expect(new Set(PROMISED_MODULES).size).toBe(PROMISED_MODULES.length);
    for (const name of PROMISED_MODULES) {
      expect(ABSENT_MODULES).not.toContain(name);
      const path = name.replaceAll(".", "/");
      expect(
        OMITTED_FILES.some((omitted) => omitted === `${path}.py` || `${path}/`.startsWith(omitted)),
        name,
      ).toBe(false);
    }
    expect(EXPORTS).toEqual(expect.arrayContaining(["memory", "_start", "__stack_pointer", "bursar_run"]));
  });

  test("comes with a licence for everything that is linked in", () => {
    const sources = SOURCES.map(({ name }) => name);
    for (const { component, source, package: from, spdx, path } of LICENCES) {
      expect([component, spdx, path].every((text) => text.length > 0)).toBe(true);
      expect(source === undefined ? settings.COMPILER_PACKAGES.includes(from ?? "") : sources.includes(source)).toBe(
        true,
      );
    }
    for (const name of sources) expect(LICENCES.map(({ source }) => source)).toContain(name);
    const names = LICENCES.map(({ component }) => component);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("a command of the build", () => {
  test("knows nothing of the machine that could show in the result", () => {
    expect(environment()).toMatchObject({ LC_ALL: "C", TZ: "UTC", HOME: "/nonexistent", PYTHONHASHSEED: "0" });
    expect(Object.keys(environment())).not.toContain("USER");
  });

  test("that fails is told with the end of its log", async () => {
    const log = join(folder, "failed.log");

    await expect(run("sh", ["-c", "echo one; echo two >&2; exit 7"], { log })).rejects.toMatchObject({
      name: "BuildFailure",
      exitCode: 1,
      message: expect.stringMatching(/^sh -c ended with 7; its log is .*failed\.log and ends so:\none\ntwo$/),
    });
    await expect(run("bursar-no-such-program", [], { log })).rejects.toThrow(/ENOENT/);
    expect(await outputOf("sh", ["-c", "exit 1"])).toBeNull();
    expect(await outputOf("echo", ["text"])).toBe("text\n");
  });

  test("is stopped, and gone, when the build is", async () => {
    const stopping = new AbortController();
    const reason = new Error("enough");
    const running = run("sleep", ["600"], { log: join(folder, "stopped.log"), signal: stopping.signal });
    stopping.abort(reason);

    await expect(running).rejects.toBe(reason);
    await expect(outputOf("sleep", ["600"], { signal: stopping.signal })).rejects.toBe(reason);
  });
});
