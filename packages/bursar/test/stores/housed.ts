import { openStore } from "bursar";
import { openHousekeeping } from "bursar/store";
import { afterAll } from "vitest";
import { postgresEngine, sqliteEngine, type TestEngine } from "./engines.js";
import { fill } from "./filled.js";

/** Both engines, for as long as the tests of a file run. */
export async function bothEngines(): Promise<{ readonly sqlite: TestEngine; readonly server: TestEngine }> {
  const sqlite = await sqliteEngine();
  const server = await postgresEngine();
  afterAll(async () => {
    await sqlite[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  return { sqlite, server };
}

/** The URL of a new store that has a little of everything. */
export async function filled(engine: TestEngine): Promise<string> {
  const url = engine.fresh();
  await using store = await openStore(url);
  await fill(store);
  return url;
}

export async function checked(url: string, archive?: string) {
  await using housekeeping = openHousekeeping(url);
  return await housekeeping.check(archive === undefined ? {} : { archive });
}

export async function exported(url: string): Promise<string> {
  await using housekeeping = openHousekeeping(url);
  let text = "";
  await housekeeping.export(async (piece) => {
    text += piece;
  });
  return text;
}

export async function imported(url: string, text: string) {
  await using housekeeping = openHousekeeping(url);
  return await housekeeping.import([text]);
}
