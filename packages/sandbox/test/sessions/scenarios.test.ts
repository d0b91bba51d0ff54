import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Language, openSandbox, type SandboxResult, type SessionOptions } from "@bursar/sandbox";
import { afterAll, expect } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { testPlaces } from "./places.js";

/* What specs 000 and 001 say, of programs that real guests have executed. Those about packages are in packages-analysis.test.ts. */

const { places } = testPlaces("scenarios");
const sandbox = await openSandbox({ ...places, workers: 1 });
afterAll(() => sandbox[Symbol.asyncDispose]());

async function executed(language: Language, code: string, more: Partial<SessionOptions> = {}): Promise<SandboxResult> {
  const session = await sandbox.createSession({ language, deterministic: true, ...more });
  try {
    return await session.execute(code);
  } finally {
    await session.destroy();
  }
}

const python = (code: string, more?: Partial<SessionOptions>) => executed("python", code, more);
const javascript = (code: string, more?: Partial<SessionOptions>) => executed("javascript", code, more);

const WORK = "total = 0\nfor number in range(20_000):\n    total += number * number\nprint(total)";

/** The same work, with a budget of which it takes so much. */
async function using(percent: number): Promise<SandboxResult> {
  const { fuel_consumed } = await python(WORK);
  return python(WORK, { fuelBudget: Math.ceil((fuel_consumed * 100) / percent) });
}

const UNITS: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, B: 1e9 };

/** The budget that a text suggests. */
function suggestedIn(text: string | null | undefined): number {
  const [, number = "", unit = ""] = /budget to (?:at least )?([\d.]+)([KMB])/.exec(text ?? "") ?? [];
  return Number(number) * (UNITS[unit] ?? Number.NaN);
}

scenario("000/efficient-fuel-usage", "of a guest", async () => {
  const { metadata, fuel_consumed: consumed } = await python("print(1)");
  expect(metadata.fuel_analysis).toMatchObject({ consumed, budget: 10_000_000_000, status: "efficient" });
  expect(metadata.fuel_analysis).toMatchObject({ recommendation: null, likely_causes: [] });
});

scenario("000/fuel-exhaustion", "of a guest", async () => {
  const { metadata, fuel_consumed } = await python("while True: pass", { fuelBudget: 60_000_000 });
  expect(fuel_consumed).toBe(60_000_000);
  expect(metadata.fuel_analysis).toMatchObject({ status: "exhausted", utilization_percent: 100 });
  expect(metadata.fuel_analysis?.recommendation).toContain(
    "Execution exceeded budget. See error_guidance for solutions.",
  );
  expect(metadata.error_guidance).toMatchObject({ error_type: "OutOfFuel" });
});

scenario("000/large-dataset-processing-detection", "of a guest", async () => {
  const { metadata } = await using(80);
  expect(metadata.fuel_analysis).toMatchObject({ status: "warning" });
  expect(metadata.fuel_analysis?.likely_causes).toContain("Complex data processing or large dataset detected");
});

scenario("000/incremental-budget-increase", "of a guest", async () => {
  const { metadata, fuel_consumed } = await using(85);
  const { recommendation } = metadata.fuel_analysis ?? {};
  expect(recommendation).toContain("(1.5x current consumption)");
  expect(suggestedIn(recommendation)).toBeGreaterThanOrEqual(1.5 * fuel_consumed);
});

scenario("000/safety-margin-recommendations", "of a guest", async () => {
  for (const percent of [80, 95]) {
    const { metadata, fuel_consumed } = await using(percent);
    expect(suggestedIn(metadata.fuel_analysis?.recommendation)).toBeGreaterThanOrEqual(1.5 * fuel_consumed);
  }
});

scenario("000/existing-clients-ignore-fuel-analysis", "of a guest", async () => {
  const { fuel_consumed, stdout, success, exit_code } = await python("print(1)");
  expect({ stdout, success, exit_code }).toEqual({ stdout: "1\n", success: true, exit_code: 0 });
  expect(fuel_consumed).toBeGreaterThan(0);
});

scenario("000/new-clients-consume-fuel-analysis", "of a guest", async () => {
  const { metadata } = await using(95);
  expect(metadata.fuel_analysis).toMatchObject({
    status: "critical",
    recommendation: expect.stringContaining("CRITICAL: Code used 9"),
  });
});

scenario("000/analysis-computation-overhead", "of a guest that writes much", async () => {
  const noisy = "import sys\nsys.stderr.write('noise ' * 100_000)\nopen('/etc/passwd')";
  const { metadata, stderr } = await python(noisy);
  expect(stderr.length).toBeGreaterThan(10_000);
  // However much a guest writes, little of it is looked at.
  expect(metadata.fuel_analysis).toMatchObject({ status: "efficient" });
});

scenario("001/path-restriction-error-guidance", "of a guest", async () => {
  const { metadata } = await python("open('/etc/passwd')");
  expect(metadata.error_guidance).toMatchObject({
    error_type: "PathRestriction",
    error_message: "FileNotFoundError: /etc/passwd",
    related_docs: ["docs/MCP_INTEGRATION.md#security-considerations"],
  });
  expect(metadata.error_guidance?.actionable_guidance[0]).toContain("Cannot access '/etc/passwd'");
});

scenario("001/quickjs-tuple-destructuring-error-guidance", "of a guest", async () => {
  const { metadata } = await javascript("const [files, err] = 5;");
  expect(metadata.error_guidance).toMatchObject({
    error_type: "QuickJSTupleDestructuring",
    error_message: "TypeError: value is not iterable",
  });
  expect(metadata.error_guidance?.code_examples).toContain("const [files, err] = os.readdir('/app');");
});

scenario("001/trap-based-classification", "of guests", async () => {
  const guided = async (result: Promise<SandboxResult>) => (await result).metadata.error_guidance?.error_type;
  expect(await guided(python("while True: pass", { fuelBudget: 60_000_000 }))).toBe("OutOfFuel");
  expect(await guided(python("import os; os.abort()"))).toBe("WASMUnreachable");
  const hoard = "const all = []; for (;;) all.push(new Array(100_000).fill(1));";
  expect(await guided(javascript(hoard, { memoryLimit: 64 * 1024 * 1024 }))).toBe("MemoryExhausted");
  expect(await guided(javascript("function f() { return f() + 1; } f();"))).toBe("StackOverflow");
});

scenario("001/no-error-detected", "of guests", async () => {
  expect((await python("print(1)")).metadata.error_guidance).toBeNull();
  expect((await javascript("console.log(1)")).metadata.error_guidance).toBeNull();
});

scenario("001/existing-clients-ignore-new-fields", "of a guest", async () => {
  const { success, exit_code, stderr } = await python("raise ValueError('x')");
  expect({ success, exit_code }).toEqual({ success: false, exit_code: 1 });
  expect(stderr).toContain("ValueError: x");
});

scenario("001/new-clients-consume-error-guidance", "of guests", async () => {
  const { metadata } = await python("open('/etc/passwd')");
  expect(metadata.error_guidance?.actionable_guidance.every((line) => line.length > 0)).toBe(true);
  expect((await python("print(1)")).metadata.error_guidance).toBeNull();
});

scenario("001/valid-documentation-references", "of what guests were told", async () => {
  const results = [
    await python("while True: pass", { fuelBudget: 60_000_000 }),
    await python("open('/etc/passwd')"),
    await python("import os; os.abort()"),
    await javascript("const [a] = 5;"),
    await javascript("function f() { return f() + 1; } f();"),
  ];
  const links = results.flatMap(({ metadata }) => metadata.error_guidance?.related_docs ?? []);
  expect(links.length).toBeGreaterThanOrEqual(results.length);
  for (const link of links) {
    const [file = "", anchor = ""] = link.split("#");
    const path = fileURLToPath(new URL(`../../../../${file}`, import.meta.url));
    expect(existsSync(path), link).toBe(true);
    const headings = readFileSync(path, "utf8").match(/^#+ .+$/gm) ?? [];
    const anchors = headings.map((heading) =>
      heading
        .replace(/^#+ /, "")
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, ""),
    );
    expect(
      anchors.map((each) => each.replaceAll(" ", "-")),
      link,
    ).toContain(anchor);
  }
});
