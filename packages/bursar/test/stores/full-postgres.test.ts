import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { reachableTemporaryFolder } from "../../../../test/postgres/server.mjs";
import { runChild } from "./child.js";
import { temporaryFolder } from "./folder.js";
import { BALLAST_BYTES, checkFull, onSmallDisk } from "./small-disk.js";

const folder = await temporaryFolder(reachableTemporaryFolder());
afterAll(() => folder[Symbol.asyncDispose]());

test("a PostgreSQL store whose disk is full says so, loses nothing, and goes on when there is room", async ({
  skip,
}) => {
  const disk = join(folder.path, "disk");
  await mkdir(disk);
  // As root, the server runs as another user.
  await chmod(folder.path, 0o755);
  const under = onSmallDisk(disk);
  if (under === null) skip("disks cannot be mounted here; the server is made to say so in faults-postgres.test.ts");
  const errand = { disk, ballast: { file: join(disk, "ballast"), bytes: BALLAST_BYTES } };
  const { lines } = await runChild("full-postgres.mjs", errand, { under: under ?? [] });
  checkFull(lines, "store_full");
});
