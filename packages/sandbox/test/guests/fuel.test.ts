import { type Language, openSandbox, type Sandbox } from "@bursar/sandbox";
import { type GuestFuel, type GuestManifest, npmQuickjs } from "@bursar/sandbox/guests";
import { COSTS } from "@bursar/wasm-fuel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { javascriptImage } from "../../src/javascript/image.js";
import { compileQuickjs, LARGE_STACK, meterQuickjs } from "../../src/javascript/metered-quickjs.js";
import { quickjsOf } from "../../src/javascript/quickjs-manifest.js";
import { pythonImage } from "../../src/python/python-image.js";
import { CACHE, pythonAtHand } from "../python/parts.js";
import { testPlaces } from "../sessions/places.js";

/** Fuel does not depend on the machine, but boot code that changes a little moves figures in their third digit. */
const TOLERANCE = 0.02;
/** And small figures by a little more. */
const SMALL_FUEL = 5000;
/** A slow machine burns as much, but takes its time. */
const PATIENCE_MS = 600_000;
const LONG_FUEL = 1_000_000_000;

const { places } = testPlaces("figures");
const PYTHON = await pythonAtHand();
const QUICKJS = npmQuickjs();
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await openSandbox({ ...places, workers: 1 });
});

afterAll(() => sandbox[Symbol.asyncDispose]());

function fuelOf({ name, fuel }: GuestManifest): GuestFuel {
  if (fuel === null) throw new Error(`the manifest of ${name} says nothing about its fuel`);
  return fuel;
}

function expectNear(measured: number, said: number, what: string): void {
  expect(Math.abs(measured - said), `${what}: ${measured}, and its manifest says ${said}`).toBeLessThanOrEqual(
    Math.max(said * TOLERANCE, SMALL_FUEL),
  );
}

async function fuel(language: Language, code: string): Promise<number> {
  const session = await sandbox.createSession({ language, fuelBudget: 100_000_000_000, deterministic: true });
  const { success, stderr, fuel_consumed, metadata } = await session.execute(code);
  await session.destroy();
  expect(success, stderr).toBe(true);
  const { sha256 } = language === "python" ? PYTHON : QUICKJS;
  expect(metadata.fuel_basis?.guest_sha256).toBe(sha256);
  return fuel_consumed;
}

describe.each([
  { guest: PYTHON, start: async () => (await pythonImage(PYTHON, CACHE)).fuel },
  {
    guest: QUICKJS,
    start: async () => {
      const engine = compileQuickjs(meterQuickjs(quickjsOf(QUICKJS), LARGE_STACK), LARGE_STACK);
      return (await javascriptImage(engine, CACHE, QUICKJS)).fuel;
    },
  },
])("the manifest of $guest.name $guest.version", ({ guest, start }) => {
  test("was measured with the costs of now", () => {
    expect(fuelOf(guest).costs).toBe(COSTS.version);
  });

  test("says what its own start burns", async () => {
    expectNear(await start(), fuelOf(guest).start, "its start");
  });

  test(
    "says what programs burn",
    async () => {
      const said = fuelOf(guest);
      expectNear(await fuel(guest.language, ""), said.empty, "an empty program");
      for (const { name, before = "", code, packages, fuel: figure } of said.work) {
        // Those that need packages, or long, are tried out where packages are: sessions/packages-analysis.
        if (packages !== undefined || figure > LONG_FUEL) continue;
        const alone = await fuel(guest.language, before);
        expectNear((await fuel(guest.language, `${before}\n${code}`)) - alone, figure, name);
      }
    },
    PATIENCE_MS,
  );
});

describe("the features of a guest", () => {
  test("are what Python programs find", async () => {
    const { modules, absent } = PYTHON.features;
    expect(modules.length).toBeGreaterThan(50);
    const session = await sandbox.createSession({ language: "python" });
    const { stdout, stderr } = await session.execute(`
import importlib, json
def there(name):
    try:
        importlib.import_module(name)
        return True
    except ImportError:
        return False
names = json.loads(${JSON.stringify(JSON.stringify([...modules, ...absent]))})
print(*[name for name in names if there(name)], sep="\\n")
`);
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n")).toEqual([...modules]);
  });

  test("are what JavaScript programs find", async () => {
    const { modules, absent } = QUICKJS.features;
    const session = await sandbox.createSession({ language: "javascript" });
    const { stdout, stderr } = await session.execute(`
for (const name of ${JSON.stringify(modules)}) console.log(Object.keys(await import(name)).length > 0);
console.log(${JSON.stringify(absent)}.filter((name) => name in globalThis).length);
`);
    expect({ stdout, stderr }).toEqual({ stdout: "true\ntrue\n0\n", stderr: "" });
  });
});
