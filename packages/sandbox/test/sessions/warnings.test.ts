import type { FuelWarning, Language } from "@bursar/sandbox";
import { describe, expect, test } from "vitest";
import { Thresholds } from "../../src/sessions/thresholds.js";
import { bothIsolations } from "./both-isolations.js";

const SANDBOXES = await bothIsolations("warnings");

const LOOPS: Readonly<Record<Language, string>> = { python: "while True: pass", javascript: "for (;;);" };
/** Burns the same every time. */
const WORK: Readonly<Record<Language, string>> = {
  python: "for i in range(20_000): pass",
  javascript: "for (let i = 0; i < 20_000; i++);",
};
const WORK_ASK_WORK: Readonly<Record<Language, string>> = {
  python: `${WORK.python}\nawait host.call('more')\nwhile True: pass`,
  javascript: `${WORK.javascript}\nawait host.call('more'); for (;;);`,
};
const PRINTING: Readonly<Record<Language, string>> = { python: "print(1)", javascript: "console.log(1)" };

const KINDS = (["process", "thread"] as const).flatMap((isolation) =>
  (["python", "javascript"] as const).map((language) => [language, isolation] as const),
);

describe.each(KINDS)("warnings of %s in a %s", (language, isolation) => {
  const open = () => SANDBOXES[isolation].createSession({ language, deterministic: true });
  const burntBy = async (code: string) => {
    const session = await open();
    const { fuel_consumed } = await session.execute(code, { handlers: { more: () => null }, fuelBudget: 100_000_000 });
    await session.destroy();
    return fuel_consumed;
  };

  test.each([3_000_000, 300_000_000])("come at each threshold of %i, once and in order", async (fuelBudget) => {
    const session = await open();
    const warnings: FuelWarning[] = [];
    const onWarning = (warning: FuelWarning) => void warnings.push(warning);
    const { metadata } = await session.execute(LOOPS[language], { fuelBudget, onWarning });
    expect(metadata.trap_reason).toBe("out_of_fuel");
    expect(warnings.map(({ threshold, budget }) => [threshold, budget])).toEqual(
      [50, 80, 95].map((threshold) => [threshold, fuelBudget]),
    );
    for (const { threshold, consumed } of warnings) {
      expect(consumed).toBeGreaterThanOrEqual((fuelBudget * threshold) / 100);
      // Not only when everything is used up.
      expect(consumed).toBeLessThan(fuelBudget);
    }
    await session.destroy();
  });

  test("are those that were crossed, and no others, at the thresholds that were given", async () => {
    const consumed = await burntBy(WORK[language]);
    const session = await open();
    const told = async (thresholds?: readonly number[]) => {
      const warnings: number[] = [];
      const result = await session.execute(WORK[language], {
        fuelBudget: Math.ceil(consumed / 0.85),
        onWarning: ({ threshold }) => void warnings.push(threshold),
        ...(thresholds !== undefined && { thresholds }),
      });
      expect(result).toMatchObject({ success: true, fuel_consumed: consumed });
      return warnings;
    };
    expect(await told()).toEqual([50, 80]);
    expect(await told([10, 84.5, 85.5])).toEqual([10, 84.5]);
    expect(await told([])).toEqual([]);
    await session.destroy();
  });

  test("are of the budget in force, and come again after an extension only if crossed anew", async () => {
    const fuelBudget = Math.ceil((await burntBy(WORK[language])) / 0.85);
    const told = async (more: number) => {
      const session = await open();
      const warnings: string[] = [];
      const handlers = { more: () => session.extend(more) };
      await session.execute(WORK_ASK_WORK[language], {
        fuelBudget,
        handlers,
        onWarning: ({ threshold, budget }) => void warnings.push(`${threshold} of ${budget}`),
      });
      await session.destroy();
      return warnings;
    };
    const first = [`50 of ${fuelBudget}`, `80 of ${fuelBudget}`];
    // Of a third more, 85 % are less than 80 and more than 50; of three times as much they are less than both.
    const third = Math.ceil(fuelBudget / 3);
    const some = fuelBudget + third;
    expect(await told(third)).toEqual([...first, `80 of ${some}`, `95 of ${some}`]);
    const much = fuelBudget * 3;
    expect(await told(fuelBudget * 2)).toEqual([...first, `50 of ${much}`, `80 of ${much}`, `95 of ${much}`]);
  });

  test("change nothing about what is burnt, nor where it ends", async () => {
    const session = await open();
    for (const fuelBudget of [2_000_001, 30_000_000]) {
      const [plain, warned] = [
        await session.execute(LOOPS[language], { fuelBudget }),
        await session.execute(LOOPS[language], { fuelBudget, onWarning: () => {} }),
      ];
      expect(warned.fuel_consumed).toBe(plain.fuel_consumed);
    }
    await session.destroy();
  });

  test("whose listener fails end the execution with that failure, and nothing else", async () => {
    const session = await open();
    const onWarning = () => {
      throw new Error("nobody is warned");
    };
    const endless = session.execute(LOOPS[language], { fuelBudget: 2_000_000_000, onWarning });
    await expect(endless).rejects.toThrow("nobody is warned");
    expect((await session.execute(PRINTING[language])).stdout).toBe("1\n");
    await session.destroy();
  });
});

test.each([[[80, 50]], [[0]], [[100]], [["50"]], [5], [Array.from({ length: 17 }, (_, n) => n + 1)]])(
  "thresholds such as %j are refused",
  async (thresholds) => {
    const session = await SANDBOXES.thread.createSession({ language: "javascript" });
    const executing = session.execute("1", { onWarning: () => {}, thresholds: thresholds as never });
    await expect(executing).rejects.toThrow("allowed: at most 16 ascending percentages between 0 and 100");
    await session.destroy();
  },
);

test("a threshold that an extension has put ahead is told again when it is crossed, others are not", () => {
  const told: string[] = [];
  const thresholds = new Thresholds({ thresholds: [50, 80, 95], told: 0 }, ({ threshold, budget, consumed }) =>
    told.push(`${threshold}: ${consumed}/${budget}`),
  );
  const look = (consumed: number, budget: number) => {
    told.length = 0;
    thresholds.look(consumed, budget);
    return [...told];
  };
  expect(look(49, 100)).toEqual([]);
  expect(look(50, 100)).toEqual(["50: 50/100"]);
  expect(look(79, 100)).toEqual([]);
  expect(look(96, 100)).toEqual(["80: 96/100", "95: 96/100"]);
  expect(look(96, 120)).toEqual([]);
  expect(look(113, 120)).toEqual([]);
  expect(look(114, 120)).toEqual(["95: 114/120"]);
  expect(look(114, 1000)).toEqual([]);
  expect(look(1001, 1000)).toEqual(["50: 1000/1000", "80: 1000/1000", "95: 1000/1000"]);
});
