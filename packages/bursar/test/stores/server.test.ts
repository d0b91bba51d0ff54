import { chmodSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "./folder.js";
import { closedFolder } from "./server.js";

test("the topmost folder that not everybody may enter is found", async () => {
  await using folder = await temporaryFolder();
  const top = realpathSync(folder.path);
  mkdirSync(join(top, "a", "b"), { recursive: true });
  chmodSync(top, 0o755);
  expect(closedFolder(join(top, "a", "b"))).toBeNull();
  chmodSync(join(top, "a", "b"), 0o700);
  expect(closedFolder(join(top, "a", "b"))).toBe(join(top, "a", "b"));
  chmodSync(join(top, "a"), 0o750);
  expect(closedFolder(join(top, "a", "b"))).toBe(join(top, "a"));
});
