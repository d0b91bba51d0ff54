import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { afterAll, expect, test } from "vitest";
import { runChild } from "./child.js";
import { temporaryFolder } from "./folder.js";

const folder = await temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());

test.each(["begun", "decided", "written", "committed"])(
  "the event loop turns on while the SQLite store is held fast at the point %s",
  async (point) => {
    const path = join(folder.path, `${point}.db`);
    const go = join(folder.path, `${point}.go`);
    {
      await using store = await SqliteStore.open({ path });
      const grant = { kind: "limits", limits: {} } as const;
      await store.apply([{ op: "open", parent: null, opening: { id: "all", scope: "shared", grant } }]);
    }

    const { lines } = await runChild("turn.mjs", { address: { path }, go }, { trap: `hold:${point}:${go}` });

    expect(lines).toMatchObject([{ answers: 4 }]);
    // What is looked up may be answered at once; the transaction and the goodbye wait until the thread is let go.
    expect(lines[0]?.early).not.toContain("transaction");
    expect(lines[0]?.early).not.toContain("goodbye");
  },
);
