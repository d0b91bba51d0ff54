import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "bursar";
import { openHousekeeping } from "bursar/store";
import { afterEach, expect, test, vi } from "vitest";
import { defaultFile, defaultUrl, readAddress } from "../../src/stores/address.js";
import { StoreError } from "../../src/stores/durable/errors.js";
import { connect } from "../../src/stores/postgres/connect.js";
import { fill, SESSION } from "./filled.js";
import { temporaryFolder } from "./folder.js";

const HOME = "/home/ada";

afterEach(() => {
  vi.unstubAllEnvs();
});

test.for([
  ["sqlite:x.db", "x.db"],
  ["sqlite:./a b/x.db", "./a b/x.db"],
  ["sqlite:/var/x.db", "/var/x.db"],
  ["sqlite:///var/x.db", "/var/x.db"],
  ["SQLITE:x.db", "x.db"],
  ["sqlite:~/x.db", "/home/ada/x.db"],
  ["sqlite:./~/x.db", "./~/x.db"],
  ["sqlite:C:\\data\\x.db", "C:\\data\\x.db"],
  ["sqlite:///C:/data/x.db", "C:/data/x.db"],
] as const)("%s is the file %s", ([url, path]) => {
  expect(readAddress(url, HOME)).toEqual({ engine: "sqlite", path });
});

test.for([
  ["postgres://ada@db/x", "postgres://ada@db/x", "bursar"],
  ["postgresql://db:5433/x?schema=ours", "postgresql://db:5433/x", "ours"],
  ["postgres://db/x?sslmode=require&schema=ours", "postgres://db/x?sslmode=require", "ours"],
  ["postgres://ada:p%40ss@db/x?schema=ours&ssl=true", "postgres://ada:p%40ss@db/x?ssl=true", "ours"],
] as const)("%s is the server %s with the schema %s", ([url, server, schema]) => {
  expect(readAddress(url, HOME)).toEqual({ engine: "postgres", url: server, schema });
});

test.for([
  ["./x.db", "did you mean sqlite:./x.db?"],
  ["x.db", "did you mean sqlite:x.db?"],
  ["/var/x.db", "did you mean sqlite:/var/x.db?"],
  ["C:\\x.db", "did you mean sqlite:C:\\x.db?"],
  ["file:///var/x.db", "did you mean sqlite:/var/x.db?"],
  ["sqllite:x.db", "did you mean sqlite:…?"],
  ["postgress://ada:secret@db/x", "did you mean postgres://…?"],
  ["mysql://root:secret@db/x", "has the scheme mysql:, which no store has; allowed: sqlite:<file>"],
  ["ada:secret@db/x", "has the scheme ada:"],
  ["//ada:secret@db/x", "did you mean postgres://…?"],
  ["host=db password=secret", "did you mean postgres://…?"],
  ["sqlite://x.db", "write sqlite:x.db"],
  ["sqlite:", "names no file"],
  ["sqlite::memory:", "write memory:"],
  ["sqlite:x.db?mode=ro", "takes none"],
  ["memory:x", "takes nothing else"],
  ["", "is empty"],
  [" ", "is empty"],
] as const)("%j is refused: %s", ([url, problem]) => {
  const read = () => readAddress(url, HOME);
  expect(read).toThrow(StoreError);
  expect(read).toThrow(problem);
  expect(read).not.toThrow("secret");
});

test("a server's URL that makes no sense is refused without a word of its password", async () => {
  const error = await openStore("postgres://ada:secret@[db/x").catch((reason: unknown) => reason);
  expect(String(error)).toContain("allowed: postgres://user@host/database");
  expect(String(error)).not.toContain("secret");
  await expect(openStore("postgres://db/x?schema=No-Good")).rejects.toThrow("schema");
});

test.for([
  "postgres:postgres:topSekret@localhost/db",
  "postgres:/user:topSekret@h/db",
  "postgresql:user:topSekret@h",
  "postgres:///u:topSekret@h/db",
  "postgres://u:topSekret@/db",
  "postgres://u:topSekret@h:port/db",
  "postgres://u:topSekret@h:99999/db",
  "postgres://u:topSekret@[::1/db",
  "postgres://u:topSekret#x@h/db",
  "postgres://u:topSekret/x@h/db",
  "postgres://u:topSekret?x@h/db",
  "postgres://u:topSekret%x@h/db",
  "postgres://u:topSekret@x@h/db",
  "postgres://u:topSekret@x/y@h/db",
])("%s is refused, with what to write and no password", async (url) => {
  const refused = {
    name: "StoreError",
    code: "store_url",
    message: expect.stringMatching(/^(?!.*topSekret).*postgres:\/\/user.*percent-encode # \/ \? % @ :/),
  };
  await expect(openStore(url)).rejects.toMatchObject(refused);
  expect(() => connect({ url, schema: "bursar" })).toThrow(expect.objectContaining(refused));
});

test("a parameter that the driver does not know is refused without the URL", () => {
  const url = "postgres://u:topSekret@h/db?target_session_attrs=no";
  expect(() => connect({ url, schema: "bursar" })).toThrow(expect.objectContaining({ code: "store_url" }));
});

test.for(["schma=x", "SCHEMA=x", "schema", "shema=x"])("the parameter %s is taken for a typo", (parameter) => {
  expect(() => readAddress(`postgres://h/db?${parameter}`, HOME)).toThrow("did you mean schema=");
});

test("a file: with what may be a login is not repeated", () => {
  expect(() => readAddress("file:ada:secret@db", HOME)).toThrow(StoreError);
  expect(() => readAddress("file:ada:secret@db", HOME)).not.toThrow("secret");
});

test.for([null, 7, {}, false])("%j is no URL, and does not mean the user's own store", async (url) => {
  vi.stubEnv("BURSAR_STORE", "memory:");
  const refused = { name: "StoreError", code: "store_url" };
  await expect(openStore(url as unknown as string)).rejects.toMatchObject(refused);
  expect(() => openHousekeeping(url as unknown as string)).toThrow(expect.objectContaining(refused));
});

test.for(["x.db", "memry:", "mysql://db", "sqlite::memory:", ""])(
  "for %j housekeeping offers no store that it refuses",
  (url) => {
    expect(() => openHousekeeping(url)).toThrow(expect.objectContaining({ code: "store_url" }));
    expect(() => openHousekeeping(url)).not.toThrow(/write memory:|mean memory:|, memory:/);
  },
);

test("without a URL, a store is where the platform keeps a user's data", () => {
  const at = (platform: string, env: Record<string, string> = {}, home = HOME) => ({ platform, env, home });
  expect(defaultFile(at("linux"))).toBe("/home/ada/.local/share/bursar/bursar.db");
  expect(defaultFile(at("linux", { XDG_DATA_HOME: "/data" }))).toBe("/data/bursar/bursar.db");
  expect(defaultFile(at("linux", { XDG_DATA_HOME: "data" }))).toBe("/home/ada/.local/share/bursar/bursar.db");
  expect(defaultFile(at("darwin", {}, "/Users/ada"))).toBe("/Users/ada/Library/Application Support/bursar/bursar.db");
  expect(defaultFile(at("win32", { LOCALAPPDATA: "D:\\data" }, "C:\\ada"))).toBe("D:\\data\\bursar\\bursar.db");
  expect(defaultFile(at("win32", {}, "C:\\ada"))).toBe("C:\\ada\\AppData\\Local\\bursar\\bursar.db");
  expect(defaultUrl(at("linux"))).toBe("sqlite:/home/ada/.local/share/bursar/bursar.db");
  expect(defaultUrl(at("linux", { BURSAR_STORE: "" }))).toBe("sqlite:/home/ada/.local/share/bursar/bursar.db");
  expect(defaultUrl(at("linux", { BURSAR_STORE: "memory:" }))).toBe("memory:");
});

test("a store is opened by its URL", async () => {
  await using folder = await temporaryFolder();
  for (const url of ["memory:", `sqlite:${join(folder.path, "new", "x.db")}`]) {
    await using store = await openStore(url);
    await fill(store);
    expect((await store.budget(SESSION))?.id).toBe(SESSION);
  }
});

test("to import bursar loads no driver", () => {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/^(?:import|export|\}).*? from "(.+)";$/gm)) {
      if (name.startsWith(".")) visit(join(dirname(file), name.replace(/\.js$/, ".ts")));
      else seen.add(name);
    }
  };
  visit(fileURLToPath(new URL("../../src/index.ts", import.meta.url)));
  expect(seen.size).toBeGreaterThan(40);
  expect([...seen].filter((name) => /postgres|sqlite/.test(name))).toEqual([]);
});
