import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COSTS, PROFILE_FORMAT } from "@bursar/wasm-fuel";
import { afterAll, describe, expect, test } from "vitest";
import type { GuestFuel } from "../../src/guests/guest-fuel.js";
import { NPM_PYTHON_FUEL } from "../../src/guests/npm-python-fuel.js";
import { builtPython, npmPython } from "../../src/python/python-manifest.js";
import { defaultPlaces } from "../../src/sessions/places.js";
import {
  type BuildSettings,
  type Described,
  type Fingerprint,
  type Guests,
  load,
  type Manifests,
  SCRIPTS,
} from "./scripts.js";

const { describeGuest } = await load<Manifests>("manifest.mjs");
const { defaultFolder, findByScripts, folderOf, prefer, readGuest, writeGuest } = await load<Guests>("cache.mjs");
const settings = await load<BuildSettings>("settings.mjs");
const { SCRIPTS_HASH } = await load<Fingerprint>("fingerprint.mjs");
const folder = mkdtempSync(join(tmpdir(), "bursar-manifest-"));
afterAll(() => rmSync(folder, { recursive: true }));

const HASH = "0123456789abcdef".repeat(4);
const described: Described = {
  wasm: Buffer.from("a module"),
  stdlib: Buffer.from("a library"),
  profile: Buffer.from("a profile"),
  facts: { version: "3.11.2", builtins: ["_bursar", "sys"], stackPointer: 0, initialMemoryBytes: 65_536 },
  licences: [{ component: "zlib", version: "1.2.13", spdx: "Zlib", file: "licences/zlib.txt", text: Buffer.from("z") }],
  hash: HASH,
  compiler: { "clang-19": "1:19.1.4-1" },
};

/** Writes the guest as a build does, or as one did in former times. */
function written(guests: string, { changed = {} }: { readonly changed?: object } = {}): string {
  const manifest = { ...describeGuest(described), ...changed };
  return writeGuest(guests, HASH, [
    [manifest.wasm.file, described.wasm],
    [manifest.stdlib.file, described.stdlib],
    [describeGuest(described).profile.file, described.profile],
    ["licences/zlib.txt", "z"],
    ["manifest.json", JSON.stringify(manifest)],
  ]);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe("a manifest", () => {
  test("says what the files are", () => {
    expect(describeGuest(described)).toMatchObject({
      format: 1,
      language: "python",
      version: "3.11.2",
      wasm: { file: "python.wasm", sha256: sha256(described.wasm), bytes: 8 },
      stdlib: { kind: "zip", sha256: sha256(described.stdlib), bytes: 9, mount: "/python/lib/python3.11" },
      profile: { format: 1, file: "python.profile", sha256: sha256(described.profile), bytes: 9 },
      build: { hash: HASH, scripts: SCRIPTS_HASH, compiler: described.compiler },
      licences: [{ component: "zlib", version: "1.2.13", spdx: "Zlib", file: "licences/zlib.txt" }],
    });
  });

  test("is the same every time, and knows nothing of the machine or the day", () => {
    const text = JSON.stringify(describeGuest(described));

    expect(JSON.stringify(describeGuest({ ...described }))).toBe(text);
    for (const trace of [tmpdir(), SCRIPTS, process.cwd(), String(new Date().getFullYear())]) {
      expect(text).not.toContain(trace);
    }
  });

  test("is understood by the sandbox", async () => {
    const guests = join(folder, "understood");
    const place = written(guests);

    expect(await builtPython(guests)).toEqual({
      name: "cpython",
      language: "python",
      version: "3.11.2",
      features: { modules: settings.PROMISED_MODULES, absent: settings.ABSENT_MODULES },
      boot: npmPython().boot,
      fuel: describeGuest(described).fuel,
      wasm: join(place, "python.wasm"),
      sha256: sha256(described.wasm),
      stdlib: { kind: "zip", file: join(place, "python311.zip") },
      home: "/python",
      entry: { kind: "export", name: "bursar_run" },
      stackPointer: 0,
      profile: { file: join(place, "python.profile"), sha256: sha256(described.profile) },
    });
  });

  test.each([
    ["without a profile, as guests were once built", { profile: undefined }],
    ["with a profile of another format", { profile: { ...describeGuest(described).profile, format: 0 } }],
  ])("%s is understood, and the guest does without", async (_, changed) => {
    const guests = join(folder, `untrained-${sha256(Buffer.from(JSON.stringify(changed)))}`);
    const place = written(guests, { changed });

    expect(readGuest(place)?.version).toBe("3.11.2");
    expect(await builtPython(guests)).toMatchObject({ sha256: sha256(described.wasm), profile: null });
  });

  const { fuel: measured } = describeGuest(described);

  test.each([
    ["without figures, as guests were once built", undefined],
    ["with figures that were counted by another cost table", { ...measured, costs: "0" }],
    ["with no object of figures", 1],
    ["without a start", { ...measured, start: "much" }],
    ["without the fuel of an empty program", { ...measured, empty: -1 }],
    ["with work without a figure", { ...measured, work: [{ name: "a", code: "b" }] }],
    ["with imports without a figure", { ...measured, imports: [{ package: "a", code: "b", first: 1, cached: 1 }] }],
  ])("%s is understood, and nothing is known of its fuel", async (name, fuel) => {
    const guests = join(folder, name);
    written(guests, { changed: { fuel } });

    expect(await builtPython(guests)).toMatchObject({ sha256: sha256(described.wasm), fuel: null });
  });

  test("brings figures for everything that those of the guest on npm tell", () => {
    const names = ({ work, imports }: GuestFuel) => [...work, ...imports].map(({ code }) => code);

    expect(names(describeGuest(described).fuel)).toEqual(names(NPM_PYTHON_FUEL));
    expect(describeGuest(described).fuel.costs).toBe(COSTS.version);
  });

  test("names the format of profiles that the sandbox reads", () => {
    expect(settings.PROFILE_FORMAT).toBe(PROFILE_FORMAT);
  });
});

describe("guests that are kept", () => {
  test.each([
    {},
    { HOME: "/home/a" },
    { HOME: "/home/a", XDG_CACHE_HOME: "/cache" },
    { HOME: "/home/a", XDG_CACHE_HOME: "/cache", BURSAR_GUESTS: "/guests" },
    { XDG_CACHE_HOME: "", BURSAR_GUESTS: "" },
  ])("are where the sandbox looks for them: %j", (env) => {
    expect(defaultFolder(env)).toBe(defaultPlaces(env, "linux").guests);
  });

  test("are named by the hash, readable for everybody, and leave nothing beside them", () => {
    const guests = join(folder, "named");
    const place = written(guests);

    expect(place).toBe(join(guests, "0123456789abcdef"));
    expect(folderOf(guests, HASH)).toBe(place);
    expect(readdirSync(guests)).toEqual(["0123456789abcdef"]);
    expect(readGuest(place)?.build.hash).toBe(HASH);
    expect(written(guests)).toBe(place);
    prefer(guests, HASH);
    expect(JSON.parse(readFileSync(join(guests, "cpython.json"), "utf8"))).toEqual({
      folder: "0123456789abcdef",
      hash: HASH,
    });
    expect(readdirSync(guests).sort()).toEqual(["0123456789abcdef", "cpython.json"]);
  });

  test.each(["python.wasm", "python311.zip", "python.profile", "manifest.json"])(
    "count only whole: %s is damaged",
    async (name) => {
      const guests = join(folder, `damaged-${name}`);
      const place = written(guests);
      writeFileSync(join(place, name), "something else");

      expect(readGuest(place)).toBeNull();
      expect(findByScripts(guests, SCRIPTS_HASH)).toBeNull();
      expect(await builtPython(guests)).toBeNull();
      written(guests);
      expect(readGuest(place)?.version).toBe("3.11.2");
    },
  );

  test("are found by their scripts where there is no compiler any more", () => {
    const guests = join(folder, "found");
    expect(findByScripts(guests, SCRIPTS_HASH)).toBeNull();
    const place = written(guests);

    expect(findByScripts(guests, SCRIPTS_HASH)).toBe(place);
    expect(findByScripts(guests, "0".repeat(64))).toBeNull();
  });

  test("are written as a whole or not at all", () => {
    const guests = join(folder, "whole");
    const path = "licences/x.txt";
    expect(() =>
      writeGuest(guests, HASH, [
        [path, "x"],
        [`${path}/y`, "y"],
      ]),
    ).toThrow();
    expect(readdirSync(guests)).toEqual([]);
    expect(existsSync(folderOf(guests, HASH))).toBe(false);
  });
});
