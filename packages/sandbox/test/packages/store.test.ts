import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { addPackages } from "../../src/packages/add.js";
import type { SourceFile } from "../../src/packages/compiled.js";
import { compilePackages, licences, listPackages, removePackage } from "../../src/packages/manage.js";
import type { Delivery } from "../../src/packages/source.js";
import { PackageStore } from "../../src/packages/store.js";
import { openPackages } from "../../src/packages/tree.js";
import { temporaryFolder } from "./folder.js";
import { startIndex } from "./index-server.js";
import { buildWheel, sha256 } from "./packing.js";

interface Content {
  readonly requirements?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** What came from elsewhere has another hash. */
  readonly sha256?: string;
}

function delivery(name: string, version: string, { requirements = [], files, ...rest }: Content = {}): Delivery {
  const given = files ?? { [`${name}/__init__.py`]: `# ${name} ${version}\n`, [`${name}/data/table.txt`]: "1 2 3" };
  return {
    unpacked: {
      name,
      version,
      requirements,
      licence: "MIT",
      licenceTexts: [{ path: "LICENSE", bytes: Buffer.from(`Licence of ${name}.`) }],
      files: Object.entries(given).map(([path, text]) => ({ path, bytes: Buffer.from(text) })),
      omitted: [],
    },
    origin: `${name}-${version}-py3-none-any.whl`,
    sha256: rest.sha256 ?? sha256(`${name} ${version}`),
    omittedRequirements: [],
  };
}

async function fill(folder: string, ...deliveries: readonly Delivery[]): Promise<PackageStore> {
  const store = new PackageStore(folder);
  for (const each of deliveries) await store.put("pypi", each);
  return store;
}

describe("a folder of packages", () => {
  test("is listed, opened and read", async () => {
    await using folder = await temporaryFolder();
    await fill(folder.path, delivery("b", "1.0"), delivery("a", "2.0", { requirements: ["b>=1"] }));

    const listed = await listPackages(folder.path);
    const tree = await openPackages(folder.path, ["a"]);

    expect(listed.map((each) => (each.kind === "sound" ? each.record.name : each))).toEqual(["a", "b"]);
    expect(tree.packages.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(tree.entries("")).toEqual([
      { name: "a", kind: "directory", size: 0 },
      { name: "b", kind: "directory", size: 0 },
    ]);
    expect(tree.entries("a")).toEqual([
      { name: "__init__.py", kind: "file", size: 8 },
      { name: "data", kind: "directory", size: 0 },
    ]);
    expect(Buffer.from(tree.read("b/data/table.txt")).toString()).toBe("1 2 3");
    expect(tree.entries("nothing")).toEqual([]);
    for (const path of ["a", "a/nothing", "../package.json", "/a/__init__.py"]) {
      expect(() => tree.read(path)).toThrow(/no package has a file/);
    }
  });

  test("that does not exist holds nothing", async () => {
    await using folder = await temporaryFolder();
    const nowhere = join(folder.path, "nowhere");

    expect(await listPackages(nowhere)).toEqual([]);
    await expect(openPackages(nowhere, ["openpyxl"])).rejects.toMatchObject({
      code: "package_missing",
      message: "the package openpyxl has not been added; to add it: bursar packages add openpyxl",
    });
  });

  test("names what is nearly meant", async () => {
    await using folder = await temporaryFolder();
    await fill(folder.path, delivery("fancy-thing", "1.0"));

    await expect(openPackages(folder.path, ["fancy_thign"])).rejects.toThrow(/did you mean fancy-thing\?/);
    await expect(removePackage(folder.path, "fancything")).rejects.toThrow(/did you mean fancy-thing\?/);
  });

  test("gives the newest version that fits everybody", async () => {
    await using folder = await temporaryFolder();
    await fill(
      folder.path,
      delivery("a", "1.10"),
      delivery("a", "1.9"),
      delivery("b", "1", { requirements: ["a<1.10"] }),
    );

    expect((await openPackages(folder.path, ["a"])).packages[0]?.version).toBe("1.10");
    expect((await openPackages(folder.path, ["a", "b"])).packages[0]?.version).toBe("1.9");
    await expect(openPackages(folder.path, ["a>=1.10", "b"])).rejects.toMatchObject({ code: "package_conflict" });
  });

  test("says which packages bring the same file, unless it is the same in both", async () => {
    await using folder = await temporaryFolder();
    const shared = { "ns/__init__.py": "", "one.py": "1" };
    await fill(
      folder.path,
      delivery("one", "1", { files: shared }),
      delivery("two", "1", { files: { "ns/__init__.py": "", "ns/two.py": "2" } }),
      delivery("three", "1", { files: { "ns/__init__.py": "other" } }),
      delivery("four", "1", { files: { ns: "a file" } }),
    );

    expect((await openPackages(folder.path, ["one", "two"])).entries("ns")).toHaveLength(2);
    await expect(openPackages(folder.path, ["one", "three"])).rejects.toThrow(
      /three and one both have "ns\/__init__\.py"/,
    );
    await expect(openPackages(folder.path, ["one", "four"])).rejects.toThrow(/both have "ns"/);
    await expect(openPackages(folder.path, ["four", "one"])).rejects.toThrow(/one and four both have "ns"/);
  });

  test("lists licences of packages and what they need, or of all", async () => {
    await using folder = await temporaryFolder();
    await fill(folder.path, delivery("a", "1", { requirements: ["b"] }), delivery("b", "1"), delivery("c", "1"));

    expect((await licences(folder.path)).map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(await licences(folder.path, ["a"])).toEqual([
      { name: "a", version: "1", licence: "MIT", texts: [{ path: "LICENSE", text: "Licence of a." }] },
      { name: "b", version: "1", licence: "MIT", texts: [{ path: "LICENSE", text: "Licence of b." }] },
    ]);
  });

  test("lets go of packages that nobody else needs", async () => {
    await using folder = await temporaryFolder();
    const a = delivery("a", "1", { requirements: ["b>=2", 'c; extra == "x"'] });
    await fill(folder.path, a, delivery("b", "2"), delivery("b", "3"), delivery("c", "1"));

    expect(await removePackage(folder.path, "b==2")).toEqual(["b 2"]);
    expect(await removePackage(folder.path, "C")).toEqual(["c 1"]);
    await expect(removePackage(folder.path, "b")).rejects.toThrow("b is needed by a 1; remove that first");
    expect(await removePackage(folder.path, "a")).toEqual(["a 1"]);
    expect(await removePackage(folder.path, "b")).toEqual(["b 3"]);
    expect(await listPackages(folder.path)).toEqual([]);
  });
});

describe("what is damaged", () => {
  test.for<[string, (place: string) => Promise<void>, RegExp]>([
    [
      "a changed file",
      (place) => writeFile(join(place, "site-packages/a/__init__.py"), "# A 1.0\n"),
      /a\/__init__\.py has been changed/,
    ],
    ["a missing file", (place) => rm(join(place, "site-packages/a/__init__.py")), /cannot be read \(ENOENT/],
    [
      "a file that grew",
      (place) => writeFile(join(place, "site-packages/a/data/table.txt"), "1 2 3 4"),
      /table\.txt has been changed/,
    ],
    [
      "a record that is cut off",
      (place) => writeFile(join(place, "package.json"), '{"format":1,'),
      /its record is no JSON/,
    ],
    [
      "a record of the future",
      (place) => writeFile(join(place, "package.json"), '{"format":2}'),
      /format 2; known is 1/,
    ],
    ["a record that is gone", (place) => rm(join(place, "package.json")), /ENOENT/],
    ["a record of another package", (place) => edit(place, '"name": "a"', '"name": "z"'), /says it is z 1\.0/],
    [
      "a record that leads elsewhere",
      (place) => edit(place, "a/data/table.txt", "../../../../secret"),
      /no path inside a package/,
    ],
  ])("is recognised by %s, named, and mended by adding it again", async ([, damage, problem]) => {
    await using folder = await temporaryFolder();
    const store = await fill(folder.path, delivery("a", "1.0"));
    await damage(join(folder.path, "a/1.0"));

    const error: unknown = await openPackages(folder.path, ["a"]).catch((each: unknown) => each);

    expect(error).toMatchObject({ code: "package_damaged", message: expect.stringMatching(problem) });
    expect(error).toMatchObject({
      message: expect.stringMatching(/^the package a 1\.0 is damaged: .*; add it again: bursar packages add a$/),
    });
    expect(await store.put("pypi", delivery("a", "1.0"))).toMatchObject({ isNew: true });
    expect((await openPackages(folder.path, ["a"])).entries("a")).toHaveLength(2);
  });

  test("is listed as such, can be removed, and leaves others alone", async () => {
    await using folder = await temporaryFolder();
    await fill(folder.path, delivery("a", "1.0"), delivery("b", "1.0"));
    await writeFile(join(folder.path, "a/1.0/package.json"), "");

    expect(await listPackages(folder.path)).toMatchObject([
      { kind: "damaged", name: "a", version: "1.0" },
      { kind: "sound" },
    ]);
    expect((await openPackages(folder.path, ["b"])).packages).toHaveLength(1);
    expect(await removePackage(folder.path, "a")).toEqual(["a 1.0"]);
  });

  test("is never read through a link that was put in its place", async () => {
    await using folder = await temporaryFolder();
    await fill(folder.path, delivery("a", "1.0"));
    const file = join(folder.path, "a/1.0/site-packages/a/__init__.py");
    await rm(file);
    await symlink("/etc/passwd", file);

    await expect(openPackages(folder.path, ["a"])).rejects.toThrow(/__init__\.py has been changed/);
  });
});

describe("storing", () => {
  test("the same again changes nothing, and the same version from elsewhere takes its place", async () => {
    await using folder = await temporaryFolder();
    const store = await fill(folder.path, delivery("a", "1.0"));
    const patched = delivery("a", "1.0", { files: { "a.py": "patched" }, sha256: sha256("patched") });

    expect((await store.put("pypi", delivery("a", "1.0"))).isNew).toBe(false);
    expect((await store.put("debian", patched)).isNew).toBe(true);
    const tree = await openPackages(folder.path, ["a"]);
    expect(tree.entries("").map(({ name }) => name)).toEqual(["a.py"]);
    expect(await readdir(join(folder.path, ".temporary"))).toEqual([]);
  });

  test("sweeps away what a process that died long ago has left behind, and nothing younger", async () => {
    await using folder = await temporaryFolder();
    const [old, young] = ["old", "young"].map((name) => join(folder.path, ".temporary", name));
    for (const each of [old, young]) await mkdir(each ?? "", { recursive: true });
    await utimes(old ?? "", 0, 0);

    await fill(folder.path, delivery("a", "1.0"));

    expect(await readdir(join(folder.path, ".temporary"))).toEqual(["young"]);
  });

  test("by many processes at once, with others opening and removing, never shows half a package", async () => {
    await using folder = await temporaryFolder();
    const files = Array.from({ length: 30 }, (_, index) => ({ path: `a/m${index}.py`, content: `x = ${index}\n` }));
    await using index = await startIndex({
      a: [{ name: "a-1.0-py3-none-any.whl", bytes: buildWheel("a", "1.0", { requirements: ["b"], files }) }],
      b: [{ name: "b-1.0-py3-none-any.whl", bytes: buildWheel("b", "1.0") }],
    });
    const store = join(folder.path, "store");
    const child = fileURLToPath(new URL("./children/add.mjs", import.meta.url));
    const children = Array.from({ length: 3 }, () =>
      fork(child, [store, index.url, "8"], { stdio: ["ignore", "ignore", "inherit", "ipc"] }),
    );
    const ended = children.map((each) => once(each, "exit"));
    await Promise.all(children.map((each) => once(each, "message")));
    for (const each of children) each.send("go");

    expect((await Promise.all(ended)).map(([code]) => code)).toEqual([0, 0, 0]);
    expect((await openPackages(store, ["a"])).entries("a")).toHaveLength(31);
    expect(await readdir(join(store, ".temporary"))).toEqual([]);
  });
});

describe("compiling", () => {
  const PYC = Buffer.concat([Buffer.alloc(16, 7), Buffer.from("code")]);

  test("is done once per guest, and the result lies beside the sources", async () => {
    await using folder = await temporaryFolder();
    await using index = await startIndex({ a: [{ name: "a-1.0-py3-none-any.whl", bytes: buildWheel("a", "1.0") }] });
    const seen: SourceFile[] = [];
    const compile = async (files: readonly SourceFile[]) => {
      seen.push(...files);
      return new Map(files.map(({ path }) => [path, PYC]));
    };
    const options = { folder: folder.path, source: "pypi", indexUrl: index.url, env: {}, compile } as const;

    await addPackages(["a"], options);
    await addPackages(["a"], options);

    expect(seen).toEqual([{ path: "a/__init__.py", source: Buffer.from('__version__ = "1.0"\n') }]);
    const tree = await openPackages(folder.path, ["a"]);
    expect(tree.entries("a").map(({ name }) => name)).toEqual(["__init__.py", "__pycache__"]);
    expect(tree.entries("a/__pycache__")).toEqual([{ name: "__init__.cpython-312.pyc", kind: "file", size: 20 }]);
    expect(Buffer.from(tree.read("a/__pycache__/__init__.cpython-312.pyc")).equals(PYC)).toBe(true);
    expect((await openPackages(folder.path, ["a"], { cacheTag: "cpython-313" })).entries("a/__pycache__")).toEqual([]);
    expect(await compilePackages(folder.path, ["a"], compile, "cpython-313")).toBe(1);
    expect(await compilePackages(folder.path, ["a"], compile)).toBe(0);
  });

  test("leaves out what does not compile, and refuses what is no byte code", async () => {
    await using folder = await temporaryFolder();
    await fill(folder.path, delivery("a", "1.0", { files: { "a.py": "1", "b.py": "print 1" } }));

    await expect(
      compilePackages(folder.path, ["a"], async () => new Map([["a.py", Buffer.from("x")]])),
    ).rejects.toThrow(/no \.pyc/);
    await expect(compilePackages(folder.path, ["a"], async () => new Map(), "../x")).rejects.toThrow(/no cache tag/);
    expect(
      await compilePackages(
        folder.path,
        ["a"],
        async () =>
          new Map([
            ["a.py", PYC],
            ["z.py", PYC],
          ]),
      ),
    ).toBe(1);
    expect((await openPackages(folder.path, ["a"])).entries("__pycache__")).toHaveLength(1);
  });

  test("is done again when its result was changed, which is not served meanwhile", async () => {
    await using folder = await temporaryFolder();
    await fill(folder.path, delivery("a", "1.0"));
    const compile = async () => new Map([["a/__init__.py", PYC]]);
    await compilePackages(folder.path, ["a"], compile);
    const file = join(folder.path, "a/1.0/compiled/cpython-312/a/__pycache__/__init__.cpython-312.pyc");
    await writeFile(file, Buffer.concat([PYC, Buffer.from("evil")]));

    expect((await openPackages(folder.path, ["a"])).entries("a/__pycache__")).toEqual([]);
    expect(await compilePackages(folder.path, ["a"], compile)).toBe(1);
    expect((await openPackages(folder.path, ["a"])).entries("a/__pycache__")).toHaveLength(1);
  });
});

async function edit(place: string, before: string, after: string): Promise<void> {
  const file = join(place, "package.json");
  const text = await readFile(file, "utf8");
  expect(text).toContain(before);
  await writeFile(file, text.replace(before, after));
}
