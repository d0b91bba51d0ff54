import { describe, expect, test } from "vitest";
import { parseSdistName, unpackSdist } from "../../src/packages/sdist.js";
import { readTar } from "../../src/packages/tar.js";
import { sift } from "../../src/packages/unpacked.js";
import { isPure, parseWheelName, unpackWheel } from "../../src/packages/wheel.js";
import { readZip } from "../../src/packages/zip.js";
import { buildTar, buildTarGz, buildWheel, buildZip, metadataOf, type Tarred } from "./packing.js";

const CLIMBING = [
  "../evil.py",
  "a/../../evil.py",
  "/etc/evil.py",
  "a\\..\\evil.py",
  "C:/evil.py",
  "a//b.py",
  "a/./b.py",
  "a\nb.py",
];

describe("a zip", () => {
  test("gives its files, packed or not, with a comment behind it", () => {
    const zip = buildZip(
      [
        { path: "a/", content: "", method: 0 },
        { path: "a/b.py", content: "print(1)\n".repeat(1000) },
        { path: "c.py", content: "x", method: 0 },
        { path: "empty.py" },
      ],
      "a comment",
    );

    expect(readZip(zip).map(({ path, bytes }) => [path, bytes.length])).toEqual([
      ["a/b.py", 9000],
      ["c.py", 1],
      ["empty.py", 0],
    ]);
  });

  test.for(CLIMBING)("with a file at %j is refused", (path) => {
    expect(() => readZip(buildZip([{ path, content: "evil" }]))).toThrow(/no path inside a package/);
  });

  test("with a link is refused", () => {
    expect(() => readZip(buildZip([{ path: "a", content: "/etc/passwd", mode: 0o120777 }]))).toThrow(
      /holds a link at "a"/,
    );
  });

  test("that unpacks to more than it says is stopped there", () => {
    const bomb = Buffer.alloc(50_000_000);

    expect(() => readZip(buildZip([{ path: "bomb.py", content: bomb, claimed: 100 }]))).toThrow(/cannot be unpacked/);
  });

  test("that says it unpacks to too much is refused before it is unpacked", () => {
    const many = Array.from({ length: 6 }, (_, index) => ({ path: `${index}.py`, content: "x", claimed: 60_000_000 }));

    expect(() => readZip(buildZip([{ path: "a.py", content: "x", claimed: 100_000_000 }]))).toThrow(
      /more than 67108864/,
    );
    expect(() => readZip(buildZip(many))).toThrow(/unpacks to 360000000 bytes/);
  });

  test("that tells two stories is refused", () => {
    expect(() => readZip(buildZip([{ path: "a.py", localPath: "b.py", content: "x" }]))).toThrow(/another name/);
    expect(() => readZip(buildZip([{ path: "a.py", content: "x", crc: 1 }]))).toThrow(/not what the directory says/);
    expect(() => readZip(buildZip([{ path: "a.py", content: "x", flags: 1 }]))).toThrow(/encrypted/);
    expect(() => readZip(buildZip([{ path: "a.py", content: "x", method: 12 }]))).toThrow(/method 12/);
  });

  test("that is cut off or overwritten anywhere gives an error and nothing else", () => {
    const whole = buildZip([
      { path: "a/b.py", content: "print(1)\n".repeat(20) },
      { path: "c.py", content: "x", method: 0 },
    ]);
    for (let length = 0; length < whole.length; length++) {
      expect(() => readZip(whole.subarray(0, length)), `${length} bytes`).toThrow(
        expect.objectContaining({ name: "PackageError" }),
      );
    }
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      try {
        readZip(changed);
      } catch (error) {
        expect(error, `byte ${at}`).toMatchObject({ name: "PackageError" });
      }
    }
  });
});

describe("a tar", () => {
  test("gives its files, and links to them as copies", async () => {
    const { files, danglingLinks } = await readTar(
      buildTar([
        { path: "./", type: "5" },
        { path: "./usr/lib/a.py", content: "a" },
        { path: "./usr/lib/b.py", type: "2", link: "a.py" },
        { path: "./usr/lib/c.py", type: "2", link: "../lib/b.py" },
        { path: "./usr/lib/hard.py", type: "1", link: "./usr/lib/a.py" },
        { path: "./usr/lib/passwd", type: "2", link: "/etc/passwd" },
        { path: "./usr/lib/up", type: "2", link: "../../../../../../etc/passwd" },
        { path: "./usr/lib/round", type: "2", link: "round" },
      ]),
    );

    expect(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual([
      ["usr/lib/a.py", "a"],
      ["usr/lib/b.py", "a"],
      ["usr/lib/c.py", "a"],
      ["usr/lib/hard.py", "a"],
    ]);
    expect(danglingLinks).toEqual(["usr/lib/passwd", "usr/lib/up", "usr/lib/round"]);
  });

  test("gives long names, as GNU and as pax write them", async () => {
    const long = `usr/${"x".repeat(120)}/module.py`;
    const line = `path=${long}\n`;
    const pax = `${line.length + 4} ${line}`;
    const tar = buildTar([
      { path: "././@LongLink", type: "L", content: `./${long}\0` },
      { path: `./${long}`.slice(0, 100), content: "gnu" },
      { path: "pax", type: "x", content: pax },
      { path: "short", content: "pax" },
    ]);

    const { files } = await readTar(tar);
    expect(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual([[long, "pax"]]);
  });

  test.for(CLIMBING)("with a file at %j is refused", async (path) => {
    await expect(readTar(buildTar([{ path, content: "evil" }]))).rejects.toThrow(/no path inside a package/);
  });

  test("that is cut off or overwritten anywhere gives an error and nothing else", async () => {
    const whole = buildTar([
      { path: "a/b.py", content: "print(1)\n".repeat(20) },
      { path: "pax", type: "x", content: "14 path=c.txt\n" },
      { path: "c.py", type: "2", link: "a/b.py" },
    ]);
    for (let length = 0; length < whole.length; length += 7) {
      await expect(readTar(whole.subarray(0, length)), `${length} bytes`).rejects.toThrow(
        expect.objectContaining({ name: "PackageError" }),
      );
    }
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      await readTar(changed).catch((error: unknown) => {
        expect(error, `byte ${at}`).toMatchObject({ name: "PackageError" });
      });
    }
  });

  test("with a device, a wrong sum or an end too early is refused", async () => {
    const sound = buildTar([{ path: "a.py", content: "x".repeat(600) }]);
    const wrong = Buffer.from(sound);
    wrong[0] = 0x62;

    await expect(readTar(buildTar([{ path: "dev/sda", type: "4" }]))).rejects.toThrow(/neither a file nor a folder/);
    await expect(readTar(wrong)).rejects.toThrow(/no tar, is cut off or damaged: .*checksum/);
    await expect(readTar(sound.subarray(0, 900))).rejects.toThrow(/cut off or damaged: .*truncated/);
  });
});

describe("a wheel", () => {
  const EXPECTED = { name: "demo", version: parseWheelName("demo-1.0-py3-none-any.whl")?.version ?? never() };

  test.for([
    ["demo-1.0-py3-none-any.whl", true],
    ["demo-1.0-py2.py3-none-any.whl", true],
    ["demo-1.0-1build-py37-none-any.whl", true],
    ["demo-1.0-cp312-none-any.whl", true],
    ["demo-1.0-py313-none-any.whl", false],
    ["demo-1.0-py2-none-any.whl", false],
    ["demo-1.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", false],
    ["demo-1.0-cp37-abi3-win_amd64.whl", false],
    ["demo-1.0-py3-none-macosx_11_0_arm64.whl", false],
  ] as const)("named %s is pure: %s", ([name, expected]) => {
    const wheel = parseWheelName(name);

    expect(wheel).toMatchObject({ name: "demo", version: { text: "1.0" } });
    expect(wheel !== null && isPure(wheel)).toBe(expected);
  });

  test.for(["demo-1.0.zip", "demo-1.0-any.whl", "demo-x-py3-none-any.whl", "../a-1.0-py3-none-any.whl"])(
    "is not named %s",
    (name) => {
      expect(parseWheelName(name)).toBeNull();
    },
  );

  test("is taken apart: modules, licence, requirements, nothing for the system", () => {
    const wheel = buildWheel("demo", "1.0", {
      requirements: ["six>=1.5"],
      files: [
        { path: "demo-1.0.data/purelib/demo/more.py", content: "" },
        { path: "demo-1.0.data/scripts/demo", content: "#!/bin/sh" },
        { path: "demo/__pycache__/old.cpython-39.pyc", content: "old" },
        { path: "demo/t64.exe", content: "MZ" },
      ],
    });

    const unpacked = unpackWheel(wheel, EXPECTED);

    expect(unpacked).toMatchObject({ name: "demo", version: "1.0", requirements: ["six>=1.5"], licence: "MIT" });
    expect(unpacked.files.map(({ path }) => path)).toEqual([
      "demo/__init__.py",
      "demo/more.py",
      "demo-1.0.dist-info/METADATA",
      "demo-1.0.dist-info/WHEEL",
      "demo-1.0.dist-info/LICENSE",
    ]);
    expect(unpacked.licenceTexts.map(({ path }) => path)).toEqual(["LICENSE"]);
    expect(unpacked.omitted.map(({ what }) => what)).toEqual(["demo/t64.exe", "demo-1.0.data/scripts/demo"]);
  });

  test.for([
    ["that holds native code", { files: [{ path: "demo/_fast.so", content: "x" }] }, /native code \(demo\/_fast\.so\)/],
    ["that hides native code", { files: [{ path: "demo/data.bin", content: "\x7fELF…" }] }, /native code/],
    ["that is another package", { saysName: "other" }, /says "other 1\.0"; expected demo 1\.0/],
    ["for an older Python", { headers: ["Requires-Python: <3.9"] }, /needs Python <3\.9, and the guest is 3\.12/],
    ["with a requirement nobody can read", { requirements: ["a b c"] }, /requirement cannot be read/],
    ["with files that differ in case only", { files: [{ path: "demo/__INIT__.py" }] }, /cannot be side by side/],
    ["with a file where a folder is", { files: [{ path: "demo" }] }, /cannot be side by side/],
    ["with two descriptions", { files: [{ path: "x-1.0.dist-info/METADATA" }] }, /2 \.dist-info folders/],
  ] as const)("%s is refused", ([, content, problem]) => {
    expect(() => unpackWheel(buildWheel("demo", "1.0", content), EXPECTED)).toThrow(problem);
  });

  test("of a package that works without its speed-up loses it, and that is written down", () => {
    const { files, omitted } = sift("MarkupSafe", [
      { path: "markupsafe/__init__.py", bytes: Buffer.from("") },
      { path: "markupsafe/_speedups.cpython-312-x86_64-linux-gnu.so", bytes: Buffer.from("\x7fELF") },
    ]);

    expect(files.map(({ path }) => path)).toEqual(["markupsafe/__init__.py"]);
    expect(omitted).toEqual([
      {
        kind: "native",
        what: "markupsafe/_speedups.cpython-312-x86_64-linux-gnu.so",
        reason: "a native speed-up it works without",
      },
    ]);
    expect(() => sift("MarkupSafe", [{ path: "markupsafe/other.so", bytes: Buffer.from("") }])).toThrow(/native code/);
  });
});

describe("a source distribution", () => {
  const EXPECTED = parseSdistName("demo-1.0.tar.gz") ?? never();

  function sdist(files: readonly Tarred[]): Buffer {
    return buildTarGz(files.map((file) => ({ ...file, path: `demo-1.0/${file.path}` })));
  }

  const INFO: readonly Tarred[] = [
    { path: "demo.egg-info/PKG-INFO", content: metadataOf("demo", "1.0") },
    { path: "demo.egg-info/requires.txt", content: "six\n" },
    { path: "demo.egg-info/top_level.txt", content: "demo\nhelper\n" },
    { path: "LICENSE", content: "Free." },
    { path: "setup.py", content: "raise SystemExit('never run')" },
  ];

  test("is taken when its modules are there as they are", async () => {
    const unpacked = await unpackSdist(
      sdist([
        ...INFO,
        { path: "demo/__init__.py", content: "" },
        { path: "helper.py", content: "" },
        { path: "tests/test.py" },
      ]),
      EXPECTED,
    );

    expect(unpacked).toMatchObject({ name: "demo", version: "1.0", requirements: ["six"] });
    expect(unpacked.files.map(({ path }) => path)).toEqual([
      "demo/__init__.py",
      "helper.py",
      "demo.egg-info/PKG-INFO",
      "demo.egg-info/requires.txt",
      "demo.egg-info/top_level.txt",
    ]);
  });

  test.for([
    ["with something to compile", [...INFO, { path: "demo/_fast.pyx" }], /demo\/_fast\.pyx to compile/],
    ["that has to be built", [{ path: "pyproject.toml" }, { path: "demo/__init__.py" }], /running its own code/],
    ["that lacks a module it promises", [...INFO, { path: "demo/__init__.py" }], /promises a module "helper"/],
  ] as const)("%s is refused", async ([, files, problem]) => {
    await expect(unpackSdist(sdist(files), EXPECTED)).rejects.toThrow(problem);
  });

  test("that is no gzip, or unpacks without end, is refused", async () => {
    await expect(unpackSdist(Buffer.from("hello"), EXPECTED)).rejects.toThrow(/no gzip file/);
  });
});

function never(): never {
  throw new Error("a name in this file is wrong");
}
