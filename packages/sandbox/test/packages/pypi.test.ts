import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type AddProgress, addPackages } from "../../src/packages/add.js";
import { openPackages } from "../../src/packages/tree.js";
import { temporaryFolder } from "./folder.js";
import { type Answer, type IndexServer, type Listed, startIndex } from "./index-server.js";
import { buildTarGz, buildWheel, buildZip, metadataOf, type WheelContent } from "./packing.js";

function wheel(name: string, version: string, content: WheelContent = {}, listed: Partial<Listed> = {}): Listed {
  const module = name.replaceAll("-", "_");
  return { name: `${module}-${version}-py3-none-any.whl`, bytes: buildWheel(name, version, content), ...listed };
}

function native(name: string, version: string, files: WheelContent["files"] = []): Listed {
  return {
    name: `${name}-${version}-cp312-cp312-manylinux_2_17_x86_64.whl`,
    bytes: buildWheel(name, version, {
      files: [...files, { path: `${name}/_fast.cpython-312.so`, content: "\x7fELF" }],
    }),
  };
}

interface Attempt {
  readonly folder: string;
  readonly index: IndexServer;
}

async function add(names: readonly string[], { folder, index }: Attempt, progress?: (each: AddProgress) => void) {
  return await addPackages(names, {
    folder,
    source: "pypi",
    indexUrl: index.url,
    env: {},
    ...(progress === undefined ? {} : { progress }),
  });
}

describe("from an index", () => {
  test("packages come with what they need, newest that fits, and can be opened", async () => {
    await using index = await startIndex({
      jinja2: [
        wheel("Jinja2", "3.1.2", { requirements: ["MarkupSafe>=2.0", 'Babel; extra == "i18n"'] }),
        wheel("Jinja2", "2.9"),
      ],
      markupsafe: [
        wheel("MarkupSafe", "2.1.2"),
        wheel("MarkupSafe", "1.0"),
        wheel("MarkupSafe", "3.0", {}, { yanked: "broken" }),
      ],
    });
    await using folder = await temporaryFolder();
    const told: AddProgress[] = [];

    const report = await add(["jinja2"], { folder: folder.path, index }, (each) => told.push(each));

    expect(report).toMatchObject({ source: "pypi", added: ["Jinja2 3.1.2", "MarkupSafe 2.1.2"], notes: [] });
    expect(report.packages[0]).toMatchObject({
      name: "Jinja2",
      source: "pypi",
      origin: `${new URL(index.url).origin}/files/Jinja2-3.1.2-py3-none-any.whl`,
      licence: "MIT",
      requirements: ["MarkupSafe>=2.0", 'Babel; extra == "i18n"'],
    });
    expect(told.map(({ kind }) => kind)).toEqual(["source", "downloading", "downloading", "stored", "stored"]);
    const tree = await openPackages(folder.path, ["JINJA2"]);
    expect(tree.entries("").map(({ name }) => name)).toEqual([
      "Jinja2",
      "Jinja2-3.1.2.dist-info",
      "MarkupSafe",
      "MarkupSafe-2.1.2.dist-info",
    ]);
    expect(Buffer.from(tree.read("Jinja2/__init__.py")).toString()).toBe('__version__ = "3.1.2"\n');
  });

  test("versions, extras and the guest's Python are minded", async () => {
    await using index = await startIndex({
      a: [
        wheel("a", "3.0", {}, { requiresPython: ">=3.13" }),
        wheel(
          "a",
          "2.0",
          { requirements: ['b; extra == "more"', 'gone; sys_platform == "win32"'] },
          { requiresPython: ">=3.8" },
        ),
        wheel("a", "1.0"),
      ],
      b: [wheel("b", "1.0")],
    });
    await using folder = await temporaryFolder();

    expect((await add(["a"], { folder: folder.path, index })).added).toEqual(["a 2.0"]);
    expect((await add(["a==1.0"], { folder: folder.path, index })).added).toEqual(["a 1.0"]);
    expect((await add(["a[more]"], { folder: folder.path, index })).added).toEqual(["b 1.0"]);
    await expect(add(["a>=3"], { folder: folder.path, index })).rejects.toThrow(
      /no version of a fits: you asked for a>=3/,
    );
    expect(
      (await openPackages(folder.path, ["a[more]"])).packages.map(({ name, version }) => `${name} ${version}`),
    ).toEqual(["a 2.0", "b 1.0"]);
    expect((await openPackages(folder.path, ["a<2"])).packages.map(({ version }) => version)).toEqual(["1.0"]);
  });

  test("metadata that is served beside a wheel saves the download of versions that do not fit", async () => {
    const beside = (version: string, requirements: readonly string[]) =>
      wheel("a", version, { requirements }, { metadata: metadataOf("a", version, { requirements }) });
    await using index = await startIndex({
      a: [beside("2.0", ["b>=2"]), beside("1.0", ["b<2"])],
      b: [wheel("b", "1.0")],
    });
    await using folder = await temporaryFolder();

    expect((await add(["a"], { folder: folder.path, index })).added).toEqual(["a 1.0", "b 1.0"]);
    expect(index.asked).not.toContain("/files/a-2.0-py3-none-any.whl");
  });

  test("a package that is there already is not stored again", async () => {
    await using index = await startIndex({ a: [wheel("a", "1.0")] });
    await using folder = await temporaryFolder();
    await add(["a"], { folder: folder.path, index });

    expect(await add(["A"], { folder: folder.path, index })).toMatchObject({ added: [], packages: [{ name: "a" }] });
  });
});

describe("what an index offers is refused, and nothing is stored,", () => {
  const NATIVE_ONLY = { a: [native("a", "1.0"), { name: "a-1.0.tar.gz", bytes: buildTarGz([]) }] };
  const climbing = buildZip([{ path: "../../evil.py", content: "evil" }]);
  const bomb = buildZip([{ path: "a/__init__.py", content: Buffer.alloc(70_000_000) }]);
  const linked = buildZip([{ path: "a/__init__.py", content: "/etc/passwd", mode: 0o120777 }]);
  const whole: Listed = wheel("a", "1.0");

  test.for<[string, Readonly<Record<string, readonly Listed[]>>, string, RegExp]>([
    [
      "when its hash is wrong",
      { a: [{ ...whole, claimedSha256: "0".repeat(64) }] },
      "source_answer",
      /not the file the index promised/,
    ],
    ["when it is native", NATIVE_ONLY, "package_native", /a has native wheels only/],
    [
      "when its dependency is native",
      { ...NATIVE_ONLY, b: [wheel("b", "1", { requirements: ["a"] })] },
      "package_native",
      /b 1 needs a: a has native/,
    ],
    ["when it climbs", { a: [{ ...whole, bytes: climbing }] }, "package_refused", /"\.\.\/\.\.\/evil\.py"/],
    ["when it is a bomb", { a: [{ ...whole, bytes: bomb }] }, "package_refused", /unpacks to more than/],
    ["when it holds links", { a: [{ ...whole, bytes: linked }] }, "package_refused", /holds a link/],
    [
      "when it says it is something else",
      { a: [wheel("a", "1.0", { saysName: "b" })] },
      "package_refused",
      /a 1\.0 is not taken: its metadata says "b 1\.0"/,
    ],
    [
      "when it has to be built",
      { a: [{ name: "a-1.0.tar.gz", bytes: buildTarGz([{ path: "a-1.0/setup.py" }]) }] },
      "package_refused",
      /running its own code/,
    ],
    [
      "when a demand cannot be met",
      { a: [wheel("a", "1", { requirements: ["c<1"] })], c: [wheel("c", "2")] },
      "package_conflict",
      /a 1 asked for c<1; there is 2/,
    ],
    [
      "when it has no file for the guest",
      { a: [wheel("a", "1.0", {}, { requiresPython: "<3" })] },
      "package_refused",
      /no file at the index/,
    ],
  ])("%s", async ([, projects, code, problem]) => {
    await using index = await startIndex(projects);
    await using folder = await temporaryFolder();
    const error: unknown = await add([projects.b === undefined ? "a" : "b"], { folder: folder.path, index }).catch(
      (each: unknown) => each,
    );

    expect(error).toMatchObject({ name: "PackageError", code, message: expect.stringMatching(problem) });
    expect(await readdir(folder.path)).toEqual([]);
  });

  test("but a speed-up that is not needed is left out instead", async () => {
    const speedUp = { path: "markupsafe/_speedups.cpython-312-x86_64-linux-gnu.so", content: "\x7fELF" };
    const bytes = buildWheel("markupsafe", "2.1.5", { files: [speedUp] });
    await using index = await startIndex({
      markupsafe: [
        { name: "markupsafe-2.1.5-cp311-cp311-win_amd64.whl", bytes },
        { name: "markupsafe-2.1.5-cp312-cp312-win_amd64.whl", bytes },
      ],
    });
    await using folder = await temporaryFolder();

    const report = await add(["MarkupSafe"], { folder: folder.path, index });

    expect(report.packages[0]?.origin).toMatch(/cp312-cp312-win_amd64\.whl$/);
    expect(report.notes).toEqual([`markupsafe: left out ${speedUp.path} (a native speed-up it works without)`]);
  });

  test("but an older version that is pure is taken, and said so", async () => {
    await using index = await startIndex({ a: [native("a", "2.0"), wheel("a", "1.9")] });
    await using folder = await temporaryFolder();

    expect(await add(["a"], { folder: folder.path, index })).toMatchObject({
      added: ["a 1.9"],
      notes: ["a is native since 2.0; 1.9 is the newest that is not"],
    });
  });

  test("and a name nobody knows is answered with one that is nearly it", async () => {
    await using index = await startIndex({});
    await using folder = await temporaryFolder();

    await expect(add(["opnepyxl"], { folder: folder.path, index })).rejects.toThrow(
      /has no package opnepyxl; did you mean openpyxl\?/,
    );
    await expect(add(["yaml"], { folder: folder.path, index })).rejects.toThrow(
      /the module yaml is in the package PyYAML/,
    );
  });
});

describe("when the index", () => {
  const FILE = "/files/a-1.0-py3-none-any.whl";
  const json: Answer = (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end("{");

  test.for<[string, string, Answer, string, RegExp]>([
    [
      "lists a file that is gone",
      FILE,
      (_, response) => void response.writeHead(404).end(),
      "source_answer",
      /is gone, though the index lists it/,
    ],
    [
      "answers 500 for a file",
      FILE,
      (_, response) => void response.writeHead(500).end(),
      "source_unreachable",
      /answers 500/,
    ],
    ["answers 403", "/simple/a/", (_, response) => void response.writeHead(403).end(), "source_answer", /answers 403/],
    ["cuts the connection", FILE, cut, "source_unreachable", /cannot be reached/],
    [
      "goes round in circles",
      FILE,
      (_, response) => void response.writeHead(302, { location: FILE }).end(),
      "source_unreachable",
      /redirect/,
    ],
    [
      "speaks HTML",
      "/simple/a/",
      (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<a>"),
      "source_answer",
      /answers with text\/html instead of/,
    ],
    ["speaks broken JSON", "/simple/a/", json, "source_answer", /lists no files/],
    ["speaks another version", "/simple/a/", other, "source_answer", /speaks version "2\.0"/],
  ])("%s, that is said and nothing is stored", async ([, path, answer, code, problem]) => {
    await using index = await startIndex({ a: [wheel("a", "1.0")] });
    await using folder = await temporaryFolder();
    index.answer(path, answer);

    const error: unknown = await add(["a"], { folder: folder.path, index }).catch((each: unknown) => each);

    expect(error).toMatchObject({ name: "PackageError", code, message: expect.stringMatching(problem) });
    expect(await readdir(folder.path)).toEqual([]);
  });

  test("stumbles once, it is asked again", async () => {
    await using index = await startIndex({ a: [wheel("a", "1.0")] });
    await using folder = await temporaryFolder();
    let failures = 0;
    const bytes = buildWheel("a", "1.0");
    index.answer(FILE, (request, response) => {
      if (failures++ === 0) cut(request, response);
      else response.writeHead(200).end(bytes);
    });

    expect((await add(["a"], { folder: folder.path, index })).added).toEqual(["a 1.0"]);
    expect(index.asked.filter((path) => path === FILE)).toHaveLength(2);
  });

  test("redirects, it is followed", async () => {
    await using index = await startIndex({ a: [wheel("a", "1.0")] });
    await using folder = await temporaryFolder();
    index.answer("/old/a/", (_, response) => void response.writeHead(301, { location: "/simple/a/" }).end());
    index.answer("/mirror", (_, response) => void response.writeHead(200).end(buildWheel("a", "1.0")));
    index.answer(FILE, (_, response) => void response.writeHead(307, { location: "/mirror" }).end());

    const moved = { ...index, url: index.url.replace("/simple/", "/old/") };
    expect((await add(["a"], { folder: folder.path, index: moved })).added).toEqual(["a 1.0"]);
  });

  test("sends more than anybody needs, it is not listened to", async () => {
    await using index = await startIndex({ a: [wheel("a", "1.0")] });
    await using folder = await temporaryFolder();
    index.answer("/simple/a/", (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(1_000_000, " ");
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });

    await expect(add(["a"], { folder: folder.path, index })).rejects.toThrow(/sends more than 67108864 bytes/);
  });

  test("is slow, whoever asked can stop waiting", async () => {
    await using index = await startIndex({ a: [wheel("a", "1.0")] });
    await using folder = await temporaryFolder();
    const stop = new AbortController();
    index.answer(FILE, () => stop.abort(new Error("enough")));

    const adding = addPackages(["a"], {
      folder: folder.path,
      source: "pypi",
      indexUrl: index.url,
      env: {},
      signal: stop.signal,
    });

    await expect(adding).rejects.toThrow("enough");
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe("the address of the index", () => {
  test("comes from pip's variable, or from its configuration, and a password in it is sent but never written", async () => {
    await using index = await startIndex({ a: [wheel("a", "1.0")] });
    await using folder = await temporaryFolder();
    const secret = index.url.replace("http://", "http://user:s%23cret@");
    const configuration = join(folder.path, "pip.conf");
    await writeFile(configuration, `[global]\ntimeout = 60\nindex-url = ${secret}\n`);

    for (const env of [{ PIP_INDEX_URL: secret }, { PIP_CONFIG_FILE: configuration }]) {
      const report = await addPackages(["a"], { folder: join(folder.path, "store"), source: "pypi", env });
      expect(JSON.stringify(report)).not.toMatch(/s#cret|s%23cret/);
      await expect(addPackages(["b"], { folder: folder.path, source: "pypi", env })).rejects.not.toThrow(
        /s#cret|s%23cret/,
      );
    }
    expect(new Set(index.authorizations)).toEqual(new Set([`Basic ${Buffer.from("user:s#cret").toString("base64")}`]));
  });

  test.for(["file:///srv/simple", "host/simple", ""])("is not %j", async (indexUrl) => {
    await using folder = await temporaryFolder();

    await expect(addPackages(["a"], { folder: folder.path, source: "pypi", indexUrl, env: {} })).rejects.toThrow(
      /no http or https address/,
    );
  });

  test("that leads nowhere is an error that names it, and without apt there is no other way", async () => {
    await using folder = await temporaryFolder();
    await using index = await startIndex({});
    const { url } = index;
    await index[Symbol.asyncDispose]();
    const options = { folder: folder.path, indexUrl: url, env: { PATH: folder.path } };

    await expect(addPackages(["a"], { ...options, source: "pypi" })).rejects.toMatchObject({
      code: "source_unreachable",
      message: expect.stringContaining(`${url}a/ cannot be reached`),
    });
    await expect(addPackages(["a"], { ...options, source: "auto" })).rejects.toThrow(
      /cannot be reached.*Debian cannot help either: apt-get is not on this machine/,
    );
  });
});

describe("what is asked for", () => {
  test.for([[[]], [["not a name!"]], [["../x"]], [["a @ http://host/a.whl"]]])("cannot be %j", async ([names = []]) => {
    await using folder = await temporaryFolder();

    await expect(addPackages(names, { folder: folder.path, env: {} })).rejects.toMatchObject({ name: "PackageError" });
  });
});

function cut(_: unknown, response: Parameters<Answer>[1]): void {
  response.writeHead(200, { "content-length": "1000000" });
  response.write("half of it", () => response.destroy());
}

function other(_: unknown, response: Parameters<Answer>[1]): void {
  response.writeHead(200, { "content-type": "application/vnd.pypi.simple.v1+json" });
  response.end(JSON.stringify({ meta: { "api-version": "2.0" }, files: [] }));
}
