import { fork } from "node:child_process";
import { readdir, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "bursar";
import { openHousekeeping } from "bursar/store";
import { expect, test } from "vitest";
import { makeFile } from "../../src/stores/durable/housekeeping/files.js";
import { fill, OPEN_RUN } from "./filled.js";
import { temporaryFolder } from "./folder.js";
import { checked } from "./housed.js";

const BUSY = fileURLToPath(new URL("./children/busy.mjs", import.meta.url));

test("a backup taken while another process writes is a sound store of one moment", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${join(folder.path, "live.db")}`;
  const child = fork(BUSY, [url], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  try {
    await new Promise((resolve) => child.once("message", resolve));
    await using housekeeping = openHousekeeping(url);
    for (const name of ["first.db", "second.db"]) {
      const file = join(folder.path, name);
      const report = await housekeeping.backup(file);
      expect(report).toMatchObject({ file, check: { ok: true, errors: 0 } });
      // What is in the store is in the copy: both are for their owner alone.
      expect((await stat(file)).mode & 0o077).toBe(0);
      expect(await checked(`sqlite:${file}`)).toMatchObject({ ok: true, defects: [], calls: report.check.calls });
      expect(await housekeeping.check()).toMatchObject({ ok: true, defects: [] });
      expect(await housekeeping.vacuum()).toMatchObject({ where: join(folder.path, "live.db") });
    }
  } finally {
    child.kill("SIGKILL");
    await gone;
  }
  expect(await checked(url)).toMatchObject({ ok: true, defects: [] });
  expect((await readdir(folder.path)).filter((name) => name.endsWith(".part"))).toEqual([]);
  await using restored = await openStore(`sqlite:${join(folder.path, "second.db")}`);
  await restored.apply([{ op: "anchor" }]);
});

test("what a backup that was killed has left behind is removed by the next one", async () => {
  await using folder = await temporaryFolder();
  let ours = "";
  await makeFile(join(folder.path, "x"), async (temporary) => {
    ours = basename(temporary);
    await writeFile(temporary, "");
  });
  const dead = ours.replace(`-${process.pid}.`, "-999999999.");
  for (const name of [ours, dead, ".other.part"]) await writeFile(join(folder.path, name), "");
  await using housekeeping = openHousekeeping(`sqlite:${join(folder.path, "live.db")}`);
  await housekeeping.migrate();
  await housekeeping.backup(join(folder.path, "backup.db"));
  const parts = (await readdir(folder.path)).filter((name) => name.endsWith(".part"));
  expect(parts.sort()).toEqual([ours, ".other.part"].sort());
});

test("a backup overwrites nothing, and a store that is not sound gives none", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${join(folder.path, "live.db")}`;
  {
    await using store = await openStore(url);
    await fill(store);
    await store.apply([{ op: "pause", budget: OPEN_RUN }]);
  }
  await using housekeeping = openHousekeeping(url);
  const file = join(folder.path, "precious");
  await writeFile(file, "mine");
  await expect(housekeeping.backup(file)).rejects.toThrow("nothing is overwritten");
  await expect(housekeeping.exportFile(file)).rejects.toThrow("nothing is overwritten");
  await expect(housekeeping.backup(join(folder.path, "no", "such", "folder.db"))).rejects.toThrow(
    "its folder is not there",
  );
  const signal = AbortSignal.abort();
  await expect(housekeeping.backup(join(folder.path, "aborted.db"), { signal })).rejects.toThrow();
  expect((await readdir(folder.path)).sort().filter((name) => !name.startsWith("live.db"))).toEqual(["precious"]);
});
