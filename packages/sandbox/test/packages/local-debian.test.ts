import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addPackages } from "../../src/packages/add.js";
import { licences } from "../../src/packages/manage.js";
import { openPackages } from "../../src/packages/tree.js";
import { temporaryFolder } from "./folder.js";
import { startIndex } from "./index-server.js";
import { buildDebian, type Deb } from "./local-debian.js";
import { metadataOf } from "./packing.js";

/** A package as Debian's helpers build one: modules, older metadata, and a copyright that machines can read. */
function python(name: string, stated: string, version: string, more: Partial<Deb> = {}): Deb {
  const module = stated.toLowerCase().replaceAll("-", "_");
  return {
    ...more,
    name,
    version: `${version}-1`,
    files: {
      [`${module}/__init__.py`]: `# ${stated}\n`,
      [`${stated}-${version}.egg-info/PKG-INFO`]: metadataOf(stated, version),
      [`/usr/share/doc/${name}/copyright`]:
        "Format: x\n\nFiles: *\nCopyright: somebody\nLicense: Expat\n\nFiles: debian/*\nLicense: GPL-2+\n",
      ...more.files,
    },
  };
}

async function add(names: readonly string[], folder: string, debs: readonly Deb[]) {
  const env = await buildDebian(folder, debs);
  return await addPackages(names, { folder: join(folder, "store"), source: "debian", env });
}

describe("from Debian's tools, with packages of our own,", () => {
  test("names are found, dependencies followed, circles closed and alternatives to Python skipped", async () => {
    await using folder = await temporaryFolder();
    const report = await add(["PyYAML", "Demo_Thing", "ruamel.yaml", "bs4", "pyfoo"], folder.path, [
      python("python3-yaml", "PyYAML", "6.0"),
      python("python3-demo-thing", "Demo-Thing", "2.1", {
        depends: "python3-typing-extensions | python3 (>> 3.10), python3-round (>= 1), tzdata, libc6",
      }),
      python("python3-round", "round", "1.0", { depends: "python3-demo-thing, python3:any" }),
      python("python3-ruamel.yaml", "ruamel.yaml", "0.17"),
      python("python3-bs4", "beautifulsoup4", "4.11"),
      python("python3-foo", "pyfoo", "3.0"),
      python("python3-typing-extensions", "typing-extensions", "4.4"),
    ]);

    expect(report.added).toEqual([
      "PyYAML 6.0",
      "Demo-Thing 2.1",
      "ruamel.yaml 0.17",
      "beautifulsoup4 4.11",
      "pyfoo 3.0",
      "round 1.0",
    ]);
    expect(report.notes).toEqual([
      "bs4 is called beautifulsoup4; it was added under that name",
      "Demo-Thing: left out tzdata (not a Python package)",
    ]);
    expect(report.packages[1]).toMatchObject({
      source: "debian",
      origin: "python3-demo-thing_2.1-1_all.deb",
      requirements: ["round"],
    });
    expect((await openPackages(join(folder.path, "store"), ["demo.thing"])).packages).toHaveLength(2);
    expect((await licences(join(folder.path, "store"), ["pyyaml"]))[0]).toMatchObject({
      licence: "Expat",
      texts: [{ path: "copyright" }],
    });
  });

  test("a guess that turns out to be another package is not taken", async () => {
    await using folder = await temporaryFolder();

    await expect(add(["pytest"], folder.path, [python("python3-test", "unrelated", "1.0")])).rejects.toMatchObject({
      code: "package_unknown",
      message: expect.stringContaining("Debian has no package for pytest"),
    });
  });

  test("extras are those of the package itself", async () => {
    await using folder = await temporaryFolder();
    const requires = { "a-1.0.egg-info/requires.txt": "\n[more]\nb>=1\n" };
    const report = await add(["a[more]"], folder.path, [
      python("python3-a", "a", "1.0", { files: requires }),
      python("python3-b", "b", "1.0"),
    ]);

    expect(report.added).toEqual(["a 1.0", "b 1.0"]);
    expect((await openPackages(join(folder.path, "store"), ["a"])).packages).toHaveLength(1);
    expect((await openPackages(join(folder.path, "store"), ["a[more]"])).packages).toHaveLength(2);
  });

  test("links inside a package become files, others are left out and written down", async () => {
    await using folder = await temporaryFolder();
    const report = await add(["a"], folder.path, [
      python("python3-a", "a", "1.0", {
        files: { "/usr/share/a/data.txt": "data" },
        links: {
          "a/data.txt": "../../../../share/a/data.txt",
          "a/passwd": "/etc/passwd",
          "a/up": "../../../../../../etc",
        },
      }),
    ]);

    const tree = await openPackages(join(folder.path, "store"), ["a"]);
    expect(tree.entries("a").map(({ name }) => name)).toEqual(["__init__.py", "data.txt"]);
    expect(Buffer.from(tree.read("a/data.txt")).toString()).toBe("data");
    expect(report.packages[0]?.omitted.map(({ what }) => what).sort()).toEqual(["a/passwd", "a/up"]);
  });

  test("a speed-up is left out of a package that works without it", async () => {
    await using folder = await temporaryFolder();
    const speedUp = "markupsafe/_speedups.cpython-311-x86_64-linux-gnu.so";
    const report = await add(["markupsafe"], folder.path, [
      python("python3-markupsafe", "MarkupSafe", "2.1.2", { native: true, files: { [speedUp]: "\x7fELF" } }),
    ]);

    expect(report.packages[0]?.omitted).toEqual([
      { kind: "native", what: speedUp, reason: "a native speed-up it works without" },
    ]);
    expect(report.packages[0]?.files.map(({ path }) => path)).not.toContain(speedUp);
  });

  test("a native dependency is left out only where the package can do without", async () => {
    await using folder = await temporaryFolder();
    const fast = python("python3-fast", "fast", "1.0", { native: true });
    const careful = { "careful/xml.py": "try:\n    import fast\nexcept ImportError:\n    fast = None\n" };
    const report = await add(["careful"], folder.path, [
      python("python3-careful", "careful", "1.0", { depends: "python3-fast", files: careful }),
      fast,
    ]);
    expect(report.packages[0]?.omittedRequirements).toEqual([
      { kind: "native", what: "fast", reason: "native; Debian asks for it, the package imports it only where it is" },
    ]);

    for (const files of [
      { "needy/xml.py": "from fast.etree import parse\n" },
      { "needy-1.0.egg-info/requires.txt": "fast>=1\n" },
    ]) {
      await using other = await temporaryFolder();
      const needy = python("python3-needy", "needy", "1.0", { depends: "python3-fast", files });
      await expect(add(["needy"], other.path, [needy, fast])).rejects.toMatchObject({
        code: "package_native",
        message: "needy 1.0 needs fast, which is native, and the guest cannot load native code",
      });
    }
  });

  test.for<[string, Deb, string, RegExp]>([
    [
      "native",
      python("python3-a", "a", "1.0", { native: true }),
      "package_native",
      /a is native: Debian builds python3-a for \w+/,
    ],
    [
      "native under cover",
      python("python3-a", "a", "1.0", { files: { "a/x.so": "" } }),
      "package_native",
      /python3-a is not taken: it holds native code/,
    ],
    [
      "without modules",
      { name: "python3-a", files: { "/usr/share/a": "" } },
      "package_refused",
      /holds no Python modules/,
    ],
    [
      "not what the list says",
      { ...python("python3-a", "a", "1.0"), claimedSha256: "0".repeat(64) },
      "source_unreachable",
      /apt-get download failed/,
    ],
    [
      "with two files for one name",
      python("python3-a", "a", "1.0", { files: { "A/__init__.py": "" } }),
      "package_refused",
      /side by side/,
    ],
  ])("a package that is %s is refused, and nothing is stored", async ([, deb, code, problem]) => {
    await using folder = await temporaryFolder();
    const error: unknown = await add(["a"], folder.path, [deb]).catch((each: unknown) => each);

    expect(error).toMatchObject({ code, message: expect.stringMatching(problem) });
    expect(await readdir(folder.path)).not.toContain("store");
  });

  test("a demand on the version that Debian does not meet is a conflict", async () => {
    await using folder = await temporaryFolder();

    await expect(add(["a>=2"], folder.path, [python("python3-a", "a", "1.0")])).rejects.toThrow(
      "no version of a fits: you asked for a>=2; there is 1.0",
    );
  });

  test("a version that the build did not know is taken from Debian's", async () => {
    await using folder = await temporaryFolder();
    const deb = { ...python("python3-a", "a", "0.0.0"), version: "1:1.2.1+dfsg-3" };

    expect((await add(["a"], folder.path, [deb])).added).toEqual(["a 1.2.1"]);
  });

  test("lists that were never fetched are an error that says what to run", async () => {
    await using folder = await temporaryFolder();
    const env = await buildDebian(folder.path, [python("python3-a", "a", "1.0")], { update: false });

    await expect(addPackages(["a"], { folder: folder.path, source: "debian", env })).rejects.toMatchObject({
      code: "source_unreachable",
      message: "apt has no lists of packages yet; run `sudo apt-get update` and try again",
    });
  });

  test("a file that disappeared from the mirror is an error that says what to run", async () => {
    await using folder = await temporaryFolder();
    const env = await buildDebian(folder.path, [python("python3-a", "a", "1.0")]);
    await writeFile(join(folder.path, "repository/python3-a_1.0-1_all.deb"), "cut off");

    await expect(addPackages(["a"], { folder: folder.path, source: "debian", env })).rejects.toThrow(
      /run `sudo apt-get update`/,
    );
  });

  test("an index that does not answer is replaced by Debian, and that is said", async () => {
    await using folder = await temporaryFolder();
    await using index = await startIndex({});
    index.answer("/simple/a/", (_, response) => void response.writeHead(503).end());
    const env = await buildDebian(folder.path, [python("python3-a", "a", "1.0")]);

    const report = await addPackages(["a"], { folder: join(folder.path, "store"), indexUrl: index.url, env });

    expect(report).toMatchObject({ source: "debian", added: ["a 1.0"] });
    expect(report.notes[0]).toBe(`took Debian's packages, because ${index.url}a/ answers 503 Service Unavailable`);
  });

  test("whoever asked can stop waiting", async () => {
    await using folder = await temporaryFolder();
    const env = await buildDebian(folder.path, [python("python3-a", "a", "1.0")]);
    const stop = new AbortController();
    const progress = () => stop.abort(new Error("enough"));

    const adding = addPackages(["a"], {
      folder: join(folder.path, "store"),
      source: "debian",
      env,
      progress,
      signal: stop.signal,
    });

    await expect(adding).rejects.toThrow("enough");
    expect(await readdir(folder.path)).not.toContain("store");
  });
});
