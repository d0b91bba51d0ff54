import { execFileSync } from "node:child_process";
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Language } from "@bursar/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Surroundings } from "./contained.js";
import { ATTEMPT, ATTEMPT_JS, type HostileProgram } from "./hostile-program.js";

const PLANTED = ["canary", "chain", "folder", "loop", "up"];
const READS: Readonly<Record<Language, string>> = {
  python: `${ATTEMPT}
for mount in ("/mnt/read", "/mnt/write"):
    for way in ("canary", "chain", "folder/canary.txt", "loop", "up/canary.txt", "../canary.txt", "..@outside@/canary.txt", "pipe"):
        attempt(open, mount + "/" + way)
    print(sorted(os.listdir(mount)))`,
  javascript: `${ATTEMPT_JS}
for (const mount of ["/mnt/read", "/mnt/write"]) {
  for (const way of ["canary", "chain", "folder/canary.txt", "loop", "up/canary.txt", "../canary.txt", "..@outside@/canary.txt", "pipe"]) attempt(() => std.loadFile(mount + "/" + way));
  console.log(JSON.stringify(os.readdir(mount)[0].sort()));
}`,
};

/** What a writable mount is asked for; the links planted in it must not lead a write out either. */
const WRITES: Readonly<Record<Language, string>> = {
  python: `${ATTEMPT}
os.chdir("/mnt/write")
for way in ("canary", "chain", "folder/escaped", "up/escaped", "../escaped", "folder"):
    attempt(open, way, "w")
    attempt(os.mkdir, way)
    attempt(os.remove, way)
    attempt(os.rename, "plain.txt", way)
    attempt(os.rename, way, "mine")
    attempt(os.utime, way)
attempt(os.symlink, "@outside@", "guest")
attempt(os.symlink, "..", "guest")
attempt(os.link, "canary", "guest")
attempt(os.link, "plain.txt", "/app/guest")
attempt(os.rename, "/mnt/write", "/app/mount")
os.symlink("/mnt/write/..", "/app/around")
attempt(open, "/app/around@outside@/canary.txt")`,
  javascript: `${ATTEMPT_JS}
os.chdir("/mnt/write");
for (const way of ["canary", "chain", "folder/escaped", "up/escaped", "../escaped", "folder"]) {
  attempt(() => std.open(way, "w"));
  attempt(() => os.mkdir(way));
  attempt(() => os.remove(way));
  attempt(() => os.rename("plain.txt", way));
  attempt(() => os.rename(way, "mine"));
}
attempt(() => os.symlink("@outside@", "guest"));
attempt(() => os.symlink("..", "guest"));
attempt(() => os.rename("/mnt/write", "/app/mount"));`,
};

const CHANGES: Readonly<Record<Language, string>> = {
  python: `${ATTEMPT}
os.chdir("/mnt/read")
attempt(open, "plain.txt", "w")
attempt(open, "plain.txt", "a")
attempt(open, "plain.txt", "r+")
attempt(open, "new.txt", "w")
attempt(os.truncate, "plain.txt", 0)
attempt(os.remove, "plain.txt")
attempt(os.rename, "plain.txt", "moved.txt")
attempt(os.rename, "plain.txt", "/app/moved.txt")
attempt(os.mkdir, "made")
attempt(os.rmdir, "below")
attempt(os.utime, "plain.txt")
attempt(os.symlink, "plain.txt", "link")
attempt(os.link, "plain.txt", "link")
print(open("plain.txt").read())`,
  javascript: `${ATTEMPT_JS}
os.chdir("/mnt/read");
for (const mode of ["w", "a", "r+"]) attempt(() => std.open("plain.txt", mode));
attempt(() => std.open("new.txt", "w"));
attempt(() => os.remove("plain.txt"));
attempt(() => os.rename("plain.txt", "moved.txt"));
attempt(() => os.rename("plain.txt", "/app/moved.txt"));
attempt(() => os.mkdir("made"));
attempt(() => os.remove("below"));
attempt(() => os.symlink("plain.txt", "link"));
console.log(std.loadFile("plain.txt"));`,
};

/** A folder of the host with links in it that lead out. */
function plant(folder: string, outside: string): void {
  mkdirSync(join(folder, "below"), { recursive: true });
  writeFileSync(join(folder, "plain.txt"), "plain");
  symlinkSync(join(outside, "canary.txt"), join(folder, "canary"));
  symlinkSync("canary", join(folder, "chain"));
  symlinkSync(outside, join(folder, "folder"));
  symlinkSync("loop", join(folder, "loop"));
  symlinkSync("below/../folder", join(folder, "up"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
}

describe("real folders", () => {
  const base = mkdtempSync(join(tmpdir(), "bursar-mounts-"));
  const [read, write] = [join(base, "read"), join(base, "write")];
  let surroundings: Surroundings;

  beforeAll(async () => {
    mkdirSync(read);
    mkdirSync(write);
    surroundings = await Surroundings.open({ folders: [{ path: read }, { path: write, writable: true }] });
    for (const folder of [read, write]) plant(folder, surroundings.outside);
  });

  afterAll(async () => {
    await surroundings[Symbol.asyncDispose]();
    rmSync(base, { recursive: true, force: true });
  });

  const mounts = [
    { path: "/mnt/read", folder: read },
    { path: "/mnt/write", folder: write, readOnly: false },
  ];
  const contain = (program: Omit<HostileProgram, "options">) =>
    surroundings.contain({ ...program, options: { mounts, limits: { files: 100, storage_bytes: 100_000 } } });

  for (const language of ["python", "javascript"] as const) {
    it(`${language}: links that lead out are neither followed nor shown`, async () => {
      const { stdout } = await contain({ name: "reads", language, code: READS[language], ends: "well" });
      expect(stdout).not.toContain("did");
      for (const name of PLANTED) expect(stdout).not.toContain(name);
      expect(stdout).toContain("plain.txt");
    });

    it(`${language}: no write goes through them`, async () => {
      await contain({ name: "writes", language, code: WRITES[language], ends: "well" });
      for (const name of PLANTED) expect(lstatSync(join(write, name)).isSymbolicLink(), name).toBe(true);
      const kinds = readdirSync(write, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
      expect(kinds.map(({ name }) => name).sort()).toEqual(PLANTED);
      expect(readdirSync(base).sort()).toEqual(["read", "write"]);
    });

    it(`${language}: a folder that is for reading is not written to`, async () => {
      const before = readdirSync(read).sort();
      const { stdout } = await contain({ name: "changes", language, code: CHANGES[language], ends: "well" });
      expect(stdout).not.toContain("did");
      expect(stdout.trimEnd().endsWith("plain")).toBe(true);
      expect(readdirSync(read).sort()).toEqual(before);
      expect(readFileSync(join(read, "plain.txt"), "utf8")).toBe("plain");
    });

    it(`${language}: what is written into a real folder counts, too`, async () => {
      const code = {
        python: `
import os
try:
    for at in range(1000):
        with open(f"/mnt/write/below/{at}", "wb") as file: file.write(b"x" * 2000)
except OSError: print("refused", len(os.listdir("/mnt/write/below")) <= 100)
for name in os.listdir("/mnt/write/below"): os.remove("/mnt/write/below/" + name)`,
        javascript: `
import * as std from "std";
import * as os from "os";
let at = 0;
for (; at < 1000; at++) { const file = std.open("/mnt/write/below/" + at, "w"); if (file === null) break; file.puts("x".repeat(2000)); if (file.flush() < 0 || file.error()) break; file.close(); }
console.log("refused", at <= 100);
for (const name of os.readdir("/mnt/write/below")[0]) if (!name.startsWith(".")) os.remove("/mnt/write/below/" + name);`,
      }[language];
      await contain({
        name: "fills",
        language,
        code,
        ends: "well",
        says: `refused ${language === "python" ? "True" : "true"}\n`,
      });
      expect(readdirSync(join(write, "below"))).toEqual([]);
    });
  }

  it("a folder that was not named cannot be mounted, nor written to", async () => {
    const { sandbox, outside } = surroundings;
    const mount = (folder: string, readOnly: boolean) =>
      sandbox.createSession({ language: "python", mounts: [{ path: "/mnt/x", folder, readOnly }] });
    for (const folder of [outside, join(read, ".."), join(read, "folder"), "/", join(write, "up")]) {
      await expect(mount(folder, true), folder).rejects.toThrow("name it in openSandbox");
    }
    await expect(mount(read, false)).rejects.toThrow("may not write to");
    await expect(mount(join(read, "missing"), true)).rejects.toThrow("ENOENT");
  });

  it("a mount cannot hide the session's own folders", async () => {
    const { sandbox } = surroundings;
    for (const path of [
      "/app",
      "/app/x",
      "/dev",
      "/dev/control",
      "/data/x",
      "/tmp",
      "/",
      "",
      "/mnt/../app",
      "mnt",
      "/a//b",
      "/python/lib",
    ]) {
      const made = sandbox.createSession({ language: "python", mounts: [{ path, folder: read }] });
      await expect(made, path).rejects.toThrow("mounts.path");
    }
  });

  it("a link that is put in the place of a folder while a session is there leads nowhere", async () => {
    const session = await surroundings.sandbox.createSession({ language: "python", mounts, autoPersistGlobals: true });
    await session.execute(
      "import os\nos.makedirs('/mnt/write/swap')\nopen('/mnt/write/swap/canary.txt', 'w').write('own')\nfolder = os.open('/mnt/write/swap', os.O_RDONLY)",
    );
    execFileSync("rm", ["-r", join(write, "swap")]);
    symlinkSync(surroundings.outside, join(write, "swap"));
    const code = `${ATTEMPT}\nattempt(open, "/mnt/write/swap/canary.txt")\nattempt(os.open, "canary.txt", os.O_RDONLY, dir_fd=folder)\nattempt(os.listdir, folder)`;
    const result = await session.execute(code);
    surroundings.expectUnharmed(result);
    expect(result.stdout).not.toContain("did");
    await session.destroy();
  });

  it("a hard link that the host has made is a file of the folder, and nothing more", async () => {
    linkSync(join(read, "plain.txt"), join(read, "twin.txt"));
    const code = 'print(open("/mnt/read/twin.txt").read())';
    await contain({ name: "twin", language: "python", code, ends: "well", says: "plain\n" });
  });
});
