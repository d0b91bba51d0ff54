import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  ConfigError,
  ConfigLocationError,
  findConfig,
  type LocatedConfig,
  loadConfig,
} from "../../src/config/config.js";
import { type ConfigSurroundings, locateConfigs } from "../../src/config/locate.js";

/** The file that has the last word. */
function locateConfig(named: string | undefined, surroundings: ConfigSurroundings): LocatedConfig | null {
  return locateConfigs(named, surroundings)[0] ?? null;
}

/** A machine with these files and folders, all of user 1000 unless an owner is given. */
function machine(
  paths: readonly string[],
  more: Partial<ConfigSurroundings> = {},
  owners: Record<string, number> = {},
) {
  const look = (path: string) => {
    if (!paths.includes(path)) return null;
    return { kind: path.endsWith(".git") ? "other" : "file", uid: owners[path] ?? 1000 } as const;
  };
  return { platform: "linux", env: {}, cwd: "/home/me/a/b", home: "/home/me", uid: 1000, look, ...more };
}

describe("a configuration is found", () => {
  const everywhere = ["/home/me/a/b/bursar.yaml", "/home/me/a/bursar.yaml", "/home/me/.config/bursar/bursar.yaml"];

  test("where it is named, first of all", () => {
    const env = { BURSAR_CONFIG: "/x.yaml" };
    expect(locateConfig("y.yaml", machine(everywhere, { env }))).toEqual({ file: "y.yaml", by: "flag" });
    expect(locateConfig(undefined, machine(everywhere, { env }))).toEqual({ file: "/x.yaml", by: "environment" });
    expect(locateConfig(undefined, machine(everywhere, { env: { BURSAR_CONFIG: "" } }))?.by).toBe("user");
  });

  test("with the user, who has the last word, then in every folder, the outermost first", () => {
    const found = [0, 1, 2, 3].map((from) => locateConfigs(undefined, machine(everywhere.slice(from))));
    const [here, above, own] = everywhere;
    expect(found.map((files) => files.map(({ file }) => file))).toEqual([[own, above, here], [own, above], [own], []]);
    const folders = locateConfigs(undefined, machine(everywhere.slice(0, 2)));
    expect(folders).toEqual([above, here].map((file) => ({ file, by: "folder" })));
    expect(locateConfig(undefined, machine(["/home/me/a/bursar.yml"]))?.file).toBe("/home/me/a/bursar.yml");
    expect(locateConfig(undefined, machine(["/bursar.yaml"]))?.file).toBe("/bursar.yaml");
  });

  test("above a repository too, because a .git that an agent has made must not hide a limit", () => {
    for (const git of ["/home/me/a/b/.git", "/home/me/a/.git"]) {
      const files = locateConfigs(undefined, machine([...everywhere, git]));
      expect(files.map(({ by }) => by)).toEqual(["user", "folder", "folder"]);
    }
    const foreign = { "/home/me/a/bursar.yaml": 2000 };
    const paths = ["/home/me/a/b/.git", "/home/me/a/bursar.yaml"];
    expect(locateConfigs(undefined, machine(paths, {}, foreign))).toEqual([]);
  });

  test("once, where the user's own folder is this one, and not where no file stands", () => {
    const own = "/home/me/.config/bursar/bursar.yaml";
    expect(locateConfigs(undefined, machine([own], { cwd: "/home/me/.config/bursar" }))).toEqual([
      { file: own, by: "user" },
    ]);
    const look = () => ({ kind: "other", uid: 1000 }) as const;
    expect(locateConfigs(undefined, machine([], { look }))).toEqual([]);
    // A file of the user's own that cannot be looked at is not passed over: reading it tells why.
    const unreadable = (path: string) => (path === own ? ({ kind: "unreadable", uid: -1 } as const) : null);
    expect(locateConfig(undefined, machine([], { look: unreadable }))).toEqual({ file: own, by: "user" });
  });

  test.for([
    [{ env: { XDG_CONFIG_HOME: "/xdg" } }, "/xdg/bursar/bursar.yaml"],
    [{ env: { XDG_CONFIG_HOME: "xdg" } }, "/home/me/.config/bursar/bursar.yaml"],
    [{ platform: "darwin" }, "/home/me/Library/Application Support/bursar/bursar.yaml"],
    [{ platform: "win32", env: { APPDATA: "C:\\me" }, cwd: "C:\\x" }, "C:\\me\\bursar\\bursar.yaml"],
  ] as const)("with the user, where the platform keeps it: %j", ([more, file]) => {
    expect(locateConfig(undefined, machine([file], more))).toEqual({ file, by: "user" });
  });

  test("not when there are two", () => {
    const both = machine(["/home/me/a/b/bursar.yaml", "/home/me/a/b/bursar.yml"]);
    expect(() => locateConfig(undefined, both)).toThrow("bursar.yml; keep one of them");
  });

  test("not where somebody else may have planted it", () => {
    const planted = machine(["/tmp/bursar.yaml"], { cwd: "/tmp/mine" }, { "/tmp/bursar.yaml": 2000 });
    expect(() => locateConfig(undefined, planted)).toThrow(ConfigLocationError);
    expect(locateConfig("/tmp/bursar.yaml", planted)?.by).toBe("flag");
    const system = machine(["/tmp/bursar.yaml"], { cwd: "/tmp/mine" }, { "/tmp/bursar.yaml": 0 });
    expect(locateConfig(undefined, system)?.by).toBe("folder");
    const here = machine(["/tmp/bursar.yaml"], { cwd: "/tmp" }, { "/tmp/bursar.yaml": 2000 });
    expect(locateConfig(undefined, here)?.by).toBe("folder");
  });

  test("not in a repository that somebody else may have planted around this folder", () => {
    const paths = ["/tmp/bursar.yaml", "/tmp/.git", "/tmp/mine"];
    const planted = { "/tmp/bursar.yaml": 2000, "/tmp/.git": 2000 };
    const cwd = "/tmp/mine";
    expect(() => locateConfig(undefined, machine(paths, { cwd }, planted))).toThrow(ConfigLocationError);
    expect(locateConfig(undefined, machine(paths, { cwd }, { ...planted, "/tmp/.git": 1000 }))?.by).toBe("folder");
    // Whoever owns this folder could have put it here; so it is where a repository is mounted for another user.
    expect(locateConfig(undefined, machine(paths, { cwd }, { ...planted, [cwd]: 2000 }))?.by).toBe("folder");
  });
});

describe("a file is read", () => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-config-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const inner = join(folder, "inner");
  mkdirSync(join(folder, ".git"));
  mkdirSync(inner);
  const env = { HOME: inner };

  test("with its short name in places, and its folder for what is relative", () => {
    const file = join(folder, "bursar.yaml");
    writeFileSync(file, "store: sqlite:x.db\ngovernance: {policies: {default: {budgets: {steps: 3}}}}\n");
    const { config, located } = loadConfig(undefined, { cwd: inner, env });
    expect(located).toEqual({ file, by: "folder" });
    expect(config.policies.get("default")?.origin.place?.file).toBe("../bursar.yaml");
    expect(config.store?.url).toBe(`sqlite:${join(folder, "x.db")}`);
    rmSync(file);
  });

  test("or nothing is, and what is shipped counts", () => {
    expect(loadConfig(undefined, { cwd: inner, env })).toMatchObject({ located: null, config: { file: null } });
    expect(findConfig(undefined, { cwd: inner, env })).toBeNull();
  });

  test.for([
    ["nothing there", null, "is not there; name another with --config or BURSAR_CONFIG"],
    ["a folder", "folder", "is a folder; name the file in it"],
    ["too much", Buffer.alloc(300_000, "#"), "more than 262144 bytes"],
    ["no UTF-8", Buffer.from([0x61, 0xff, 0xfe]), "is not UTF-8"],
  ] as const)("or it is told why not: %s", ([name, content, complaint]) => {
    const file = join(folder, name);
    if (content === "folder") mkdirSync(file);
    else if (content !== null) writeFileSync(file, content);
    expect(() => loadConfig(name, { cwd: folder, env })).toThrow(ConfigLocationError);
    expect(() => loadConfig(name, { cwd: folder, env })).toThrow(complaint);
  });

  test("no further than a configuration can reach, even from a device without an end", () => {
    expect(() => loadConfig("/dev/zero", { cwd: folder, env })).toThrow("more than 262144 bytes");
  });

  test("and what is wrong in it is a ConfigError with its name", () => {
    writeFileSync(join(folder, "wrong.yaml"), "govrnance: {}\n");
    expect(() => loadConfig("wrong.yaml", { cwd: folder, env })).toThrow(ConfigError);
    expect(() => loadConfig("wrong.yaml", { cwd: folder, env })).toThrow("wrong.yaml:1:1: govrnance is not known here");
  });
});
