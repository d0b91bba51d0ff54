import { openSandbox, type SandboxOptions, type SessionOptions } from "@bursar/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { testPlaces } from "./places.js";

const { places, folder } = testPlaces("options");
const sandbox = await openSandbox({ ...places, workers: 1, isolation: "thread" });
afterAll(() => sandbox[Symbol.asyncDispose]());

describe("what nobody knows is refused, and the nearest known is named", () => {
  test.each([
    [{ fuel: 1 }, "fuel is not known here; did you mean fuelBudget?; allowed: language, fuelBudget"],
    [{ memorylimit: 1 }, "memorylimit is not known here; did you mean memoryLimit?"],
    [{ limits: { stdot_bytes: 1 } }, "limits.stdot_bytes is not known here; did you mean stdout_bytes?"],
    [{ limits: { storage: 1 } }, "limits.storage is not known here; did you mean storage_bytes?"],
    [{ limits: 5 }, "limits is 5; allowed: an object with storage_bytes"],
    [
      { mounts: [{ path: "/mnt/a", folder, readonly: false }] },
      "mounts.readonly is not known here; did you mean readOnly?",
    ],
    [{ deterministic: { instant: 1, sed: "x" } }, "deterministic.sed is not known here; did you mean seed?"],
    [{ zzzzzz: 1 }, "zzzzzz is not known here; allowed: language"],
  ])("in the options of a session: %j", async (options, message) => {
    const asked = { language: "javascript", ...options } as unknown as SessionOptions;
    await expect(sandbox.createSession(asked)).rejects.toThrow(message);
    await expect(sandbox.createSession(asked)).rejects.toMatchObject({ code: "invalid_input" });
  });

  test.each([
    [{ fuelbudget: 1 }, "fuelbudget is not known here; did you mean fuelBudget?"],
    [{ timeOut: 1 }, "timeOut is not known here; did you mean timeout?"],
    [{ onProgres: () => {} }, "onProgres is not known here; did you mean onProgress?"],
    [null, "options is null; allowed: an object with fuelBudget"],
  ])("in the options of an execution: %j", async (options, message) => {
    const session = await sandbox.createSession({ language: "javascript" });
    await expect(session.execute("1", options as never)).rejects.toThrow(message);
    expect((await session.execute("console.log(1)", { timeout: 60_000 })).stdout).toBe("1\n");
    await session.destroy();
  });

  test.each([
    [{ fuelbudget: 1 }, "fuelbudget is not known here; did you mean fuelBudget?"],
    [
      { onOutput: () => {} },
      "onOutput is not known here; allowed: fuelBudget, timeout, storageLimit, memoryLimit, stdin, argv, interactive",
    ],
  ])("in the settings of a program that is begun: %j", async (settings, message) => {
    const session = await sandbox.createSession({ language: "javascript" });
    await expect(session.begin("1", settings as never)).rejects.toThrow(message);
    await session.destroy();
  });

  test.each([
    [{ worker: 1 }, "worker is not known here; did you mean workers?"],
    [{ idleTimout: 1 }, "idleTimout is not known here; did you mean idleTimeout?"],
    [{ folders: [{ path: folder, writeable: true }] }, "folders.writeable is not known here; did you mean writable?"],
    [{ isolation: "proces" }, 'isolation is "proces"; allowed: "process" or "thread"'],
    [{ guest: "slow" }, 'guest is "slow"; allowed: "fast" or "npm"'],
  ])("in the options of a sandbox: %j", async (options, message) => {
    await expect(openSandbox({ ...places, ...options } as unknown as SandboxOptions)).rejects.toThrow(message);
  });
});
