import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSandbox, SandboxInputError } from "@bursar/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CACHE, Surroundings } from "./contained.js";

/** Where `bursar session 1`, its line end and the signature stand before the body. */
const MAGIC = 17;
const SIGNATURE = 32;
const PLACES = 60;

describe("saved sessions that were tampered with", () => {
  let surroundings: Surroundings;
  let saved: Uint8Array;
  let other: Uint8Array;

  beforeAll(async () => {
    surroundings = await Surroundings.open();
    const { sandbox } = surroundings;
    const session = await sandbox.createSession({ language: "python", autoPersistGlobals: true });
    await session.execute("x = 41\nopen('/app/file', 'w').write('kept')");
    saved = await session.save();
    await session.execute("x = 1000");
    other = await session.save();
    await session.destroy();
  });

  afterAll(async () => {
    await surroundings[Symbol.asyncDispose]();
    for (const folder of made) rmSync(folder, { recursive: true, force: true });
  });

  const made: string[] = [];
  const makeFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "bursar-saved-"));
    made.push(folder);
    return folder;
  };

  const expectRefused = async (bytes: Uint8Array, how: string) => {
    const before = (await surroundings.sandbox.sessions()).length;
    await expect(surroundings.sandbox.restoreSession(bytes), how).rejects.toBeInstanceOf(SandboxInputError);
    expect((await surroundings.sandbox.sessions()).length).toBe(before);
  };

  it("one bit anywhere is enough", async () => {
    const begin = MAGIC + SIGNATURE;
    const spread = Array.from(
      { length: PLACES },
      (_, at) => begin + Math.floor(((saved.length - begin - 1) * at) / (PLACES - 1)),
    );
    for (const at of [0, MAGIC - 1, MAGIC, begin - 1, ...spread]) {
      const changed = Uint8Array.from(saved);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      await expectRefused(changed, `the byte ${at}`);
    }
  });

  it("pieces of it are refused", async () => {
    for (const length of [
      0,
      1,
      MAGIC,
      MAGIC + 1,
      MAGIC + SIGNATURE,
      MAGIC + SIGNATURE + 1,
      saved.length >> 1,
      saved.length - 1,
    ]) {
      await expectRefused(saved.subarray(0, length), `the first ${length} bytes`);
    }
    await expectRefused(saved.subarray(1), "all but the first byte");
    await expectRefused(Buffer.concat([saved, Buffer.from([0])]), "a byte more");
    await expectRefused(Buffer.concat([saved, saved]), "twice");
  });

  it("the signature of one does not fit another", async () => {
    const begin = MAGIC + SIGNATURE;
    await expectRefused(Buffer.concat([saved.subarray(0, begin), other.subarray(begin)]), "another body");
    await expectRefused(Buffer.concat([other.subarray(0, begin), saved.subarray(begin)]), "another signature");
    await expectRefused(
      Buffer.concat([saved.subarray(0, MAGIC), Buffer.alloc(SIGNATURE), saved.subarray(begin)]),
      "zeros",
    );
    await expectRefused(Buffer.from("bursar session 2\n".padEnd(200, "x")), "another version");
    await expectRefused(Buffer.from('{"id":"x","setup":{}}'), "no session at all");
  });

  it("one that was signed elsewhere is refused there and here", async () => {
    const keyFile = join(makeFolder(), "sandbox.key");
    const elsewhere = await openSandbox({ isolation: "process", cacheFolder: CACHE, keyFile, workers: 1 });
    try {
      await expect(elsewhere.restoreSession(saved)).rejects.toThrow("not signed with this sandbox's key");
      const session = await elsewhere.createSession({ language: "javascript" });
      await expectRefused(await session.save(), "signed elsewhere");
    } finally {
      await elsewhere[Symbol.asyncDispose]();
    }
  });

  it("what was saved is restored as it was, as often as one likes, by whoever has the key", async () => {
    for (let times = 0; times < 2; times++) {
      const session = await surroundings.sandbox.restoreSession(saved);
      const { stdout, stderr } = await session.execute("x += 1\nprint(x, open('/app/file').read())");
      expect({ stdout, stderr }).toEqual({ stdout: "42 kept\n", stderr: "" });
      await session.destroy();
    }
  });

  it("a session does not bring a folder along that is not allowed here", async () => {
    const folder = makeFolder();
    const keyFile = join(makeFolder(), "sandbox.key");
    const shared = { isolation: "process", cacheFolder: CACHE, keyFile, workers: 1 } as const;
    const allowing = await openSandbox({ ...shared, folders: [{ path: folder, writable: true }] });
    const refusing = await openSandbox({ ...shared, folders: [{ path: folder }] });
    try {
      const mounts = [{ path: "/mnt/x", folder, readOnly: false }];
      const bytes = await (await allowing.createSession({ language: "javascript", mounts })).save();
      await expect(allowing.restoreSession(bytes)).resolves.toBeDefined();
      await expect(refusing.restoreSession(bytes)).rejects.toThrow("may not write to");
    } finally {
      await Promise.all([allowing, refusing].map((sandbox) => sandbox[Symbol.asyncDispose]()));
    }
  });
});
