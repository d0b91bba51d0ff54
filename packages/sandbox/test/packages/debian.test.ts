import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AddReport, addPackages } from "../../src/packages/add.js";
import { licences, listPackages } from "../../src/packages/manage.js";
import { isNative } from "../../src/packages/native.js";
import { openPackages, type PackageTree } from "../../src/packages/tree.js";
import { temporaryFolder } from "./folder.js";

/** What is asked for, the modules it must bring, and what must come along. */
const WANTED: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["openpyxl", ["openpyxl/__init__.py", "openpyxl/chart/bar_chart.py", "et_xmlfile/__init__.py"], ["et-xmlfile"]],
  ["PyPDF2", ["PyPDF2/__init__.py", "PyPDF2/_reader.py"], []],
  ["jinja2", ["jinja2/__init__.py", "markupsafe/_native.py"], ["markupsafe"]],
  ["python-dateutil", ["dateutil/parser/__init__.py", "six.py"], ["six"]],
  ["tabulate", ["tabulate.py"], []],
  ["PyYAML", ["yaml/__init__.py", "yaml/loader.py"], []],
  ["markdown", ["markdown/__init__.py", "markdown/extensions/tables.py"], []],
];
const NAMES = WANTED.map(([name]) => name);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let store: string;
let report: AddReport;

beforeAll(async () => {
  folder = await temporaryFolder();
  store = join(folder.path, "store");
  report = await addPackages(NAMES, { folder: store, source: "debian" }).catch((error: Error) => {
    throw new Error(`these tests fetch real packages from Debian and could not: ${error.message}`, { cause: error });
  });
});

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

describe("real packages from Debian", () => {
  test("are added with what they need and nothing twice", () => {
    expect(report.source).toBe("debian");
    expect(report.added).toHaveLength(new Set(report.packages.map(({ name }) => name.toLowerCase())).size);
    expect(
      report.packages.every(({ origin, sha256 }) => origin.endsWith(".deb") && /^[0-9a-f]{64}$/.test(sha256)),
    ).toBe(true);
  });

  test.for(WANTED)(
    "%s opens by itself, with its modules and its dependencies",
    async ([name, modules, dependencies]) => {
      const tree = await openPackages(store, [name]);

      for (const path of modules) expect(tree.read(path).length, path).toBeGreaterThan(0);
      const names = tree.packages.map((record) => record.name.toLowerCase().replaceAll("_", "-"));
      expect(names).toEqual(expect.arrayContaining([name.toLowerCase(), ...dependencies]));
    },
  );

  test("hold no native file and no byte code of another Python", async () => {
    const tree = await openPackages(store, NAMES);
    const files = filesOf(tree, "");

    expect(files.length).toBeGreaterThan(300);
    expect(files.filter((path) => isNative(path, tree.read(path)) || path.endsWith(".pyc"))).toEqual([]);
    expect(report.notes).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^MarkupSafe: left out markupsafe\/_speedups\..*\.so/),
        expect.stringMatching(/^PyYAML: left out yaml\/_yaml\..*\.so/),
        expect.stringMatching(/^openpyxl: left out lxml \(native/),
      ]),
    );
  });

  test("state their licences, each with its text", async () => {
    const found = await licences(store);

    expect(found).toHaveLength(report.packages.length);
    for (const { name, licence, texts } of found) {
      expect(licence, name).toMatch(/MIT|BSD|Expat/);
      expect(texts.map(({ text }) => text).join(), name).toMatch(
        /Permission is hereby granted|Redistribution and use|licen[cs]e/i,
      );
    }
  });

  test("are not stored again", async () => {
    const again = await addPackages(["jinja2"], { folder: store, source: "debian" });

    expect(again).toMatchObject({ added: [], packages: [{ name: "Jinja2" }, { name: "MarkupSafe" }] });
    expect((await listPackages(store)).every(({ kind }) => kind === "sound")).toBe(true);
  });

  test("that are native are refused, alone and as a dependency", async () => {
    const refused = { code: "package_native", message: expect.stringMatching(/numpy|lxml/) };

    await expect(addPackages(["numpy"], { folder: store, source: "debian" })).rejects.toMatchObject(refused);
    await expect(addPackages(["python-docx"], { folder: store, source: "debian" })).rejects.toMatchObject(refused);
  });

  test("with a slip in the name are recognised", async () => {
    await expect(addPackages(["opnepyxl"], { folder: store, source: "debian" })).rejects.toThrow(
      /did you mean openpyxl\?/,
    );
  });
});

function filesOf(tree: PackageTree, folderPath: string): readonly string[] {
  return tree.entries(folderPath).flatMap(({ name, kind }) => {
    const path = folderPath === "" ? name : `${folderPath}/${name}`;
    return kind === "file" ? [path] : filesOf(tree, path);
  });
}
