import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSandbox } from "@bursar/sandbox";
import { afterAll, expect, test } from "vitest";
import { CACHE } from "../python/parts.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-descriptors-"));
writeFileSync(join(folder, "data.txt"), "some data");
const places = { cacheFolder: CACHE, packagesFolder: join(folder, "packages"), keyFile: join(folder, "key") };
// In this process, so that what it has open can be looked at.
const sandbox = await openSandbox({ ...places, workers: 1, isolation: "thread", folders: [{ path: folder }] });
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test("files that were opened and unlinked do not add up when every execution starts from the image", async () => {
  const session = await sandbox.createSession({ language: "python", limits: { files: 10 } });
  const code = "import os\nos.open('x', os.O_CREAT | os.O_RDWR)\nos.unlink('x')";
  for (let execution = 0; execution < 12; execution++) {
    expect(await session.execute(code)).toMatchObject({ success: true, stderr: "" });
  }
  await session.destroy();
});

test.each([true, false])("files of this machine are closed with their guest, globals kept: %s", async (kept) => {
  const mounts = [{ path: "/mnt/data", folder }];
  const open = () => openFiles().filter((path) => path === join(folder, "data.txt")).length;
  const code = "import os\nfd = os.open('/mnt/data/data.txt', os.O_RDONLY)\nprint(os.read(fd, 4))";
  for (let turn = 0; turn < 3; turn++) {
    const session = await sandbox.createSession({ language: "python", mounts, autoPersistGlobals: kept });
    for (let execution = 0; execution < 3; execution++) {
      expect(await session.execute(code)).toMatchObject({ success: true, stdout: "b'some'\n" });
    }
    await session.destroy();
  }
  // One guest is remembered by the thread, with what it has open; another takes its place.
  const other = await sandbox.createSession({ language: "python" });
  await other.execute("1");
  expect(open()).toBe(0);
});

function openFiles(): readonly string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}
