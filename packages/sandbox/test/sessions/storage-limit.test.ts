import { openSandbox } from "@bursar/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { testPlaces } from "./places.js";

const { places } = testPlaces("storage-limit");
const sandbox = await openSandbox({ ...places, workers: 1, isolation: "thread" });
afterAll(() => sandbox[Symbol.asyncDispose]());

/** Writes a file of so many bytes, named after them. */
function writing(bytes: number): string {
  return `import * as std from "std";
    const file = std.open("/app/${bytes}", "w");
    file.puts("x".repeat(${bytes}));
    file.close();`;
}

describe.each([true, false])("what one execution may write, where globals live on: %s", (autoPersistGlobals) => {
  async function written(...executions: readonly (readonly [bytes: number, storageLimit?: number])[]) {
    const limits = { storage_bytes: 1000 };
    const session = await sandbox.createSession({ language: "javascript", autoPersistGlobals, limits });
    for (const [bytes, storageLimit] of executions) {
      await session.execute(writing(bytes), storageLimit === undefined ? {} : { storageLimit });
    }
    const files = await session.listFiles();
    await session.destroy();
    return files.map(({ size }) => size).toSorted((a, b) => a - b);
  }

  test("is not less for the next one, which has what is left of the session's", async () => {
    expect(await written([10, 10], [500])).toEqual([10, 500]);
  });

  test("is not more for the next one either", async () => {
    expect(await written([700, 5000], [900])).toEqual([0, 700]);
  });
});
