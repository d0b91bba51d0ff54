import { defineDimension, openStore, STANDARD } from "bursar";
import { describe, expect, test } from "vitest";
import { postgresEngine, sqliteEngine } from "./engines.js";

const CUSTOM = STANDARD.with(defineDimension({ id: "emails_sent", kind: "sum", unit: "emails" }));

describe.each([
  ["SQLite", sqliteEngine],
  ["PostgreSQL", postgresEngine],
])("%s: dead calls with a dimension of another process", (_name, start) => {
  test("are left to it, and keep nobody else's from being settled", async () => {
    await using engine = await start();
    const url = engine.fresh();
    await using knows = await openStore(url, { dimensions: CUSTOM });
    await using other = await openStore(url, { dimensions: STANDARD });
    const opening = { id: "run", scope: "run", grant: { kind: "limits", limits: {} } } as const;
    await knows.apply([{ op: "open", parent: null, opening }]);
    const reserve = (call: string, asked: object, expires: number) =>
      ({ op: "reserve", budget: "run", call, kind: "model", asked: asked as never, expires }) as const;
    // As many as one sweep settles, and all of them older.
    const foreign = Array.from({ length: 1000 }, (_, at) => reserve(`mail-${at}`, { emails_sent: 1 }, 1));
    await knows.apply(foreign);
    await knows.apply([reserve("step", { steps: 1 }, 2)]);
    const [{ calls }] = await other.apply([{ op: "expire" }]);
    expect(calls).toEqual(["step"]);
    const [{ calls: rest }] = await knows.apply([{ op: "expire" }]);
    expect(rest).toHaveLength(1000);
  });
});
