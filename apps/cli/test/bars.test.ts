import { STANDARD } from "bursar";
import type { Position } from "bursar/views";
import { describe, expect, test } from "vitest";
import { bar, renderBars } from "../src/render/bars.js";
import { styleFor, widthOf } from "../src/render/style.js";

const PLAIN = styleFor(false);
const COLOUR = styleFor(true);

function position(used: number, held: number, limit: number, id = "llm_tokens"): Position {
  return { dimension: STANDARD.get(id), budget: "run:research", used, held, limit, thresholds: [50, 80] };
}

describe("a bar", () => {
  test("shows what is spent, what is held, what is free and where it warns", () => {
    expect(bar(position(20, 20, 100), 20, PLAIN)).toBe("████▒▒▒▒░░│░░░░░│░░░");
  });

  test("keeps its marks over what is spent and what is held", () => {
    expect(bar(position(60, 30, 100), 20, PLAIN)).toBe("██████████│█▒▒▒▒│▒░░");
  });

  test("is full only when nothing is left, and empty only when nothing was taken", () => {
    expect(bar(position(0, 0, 1000), 7, PLAIN)).toBe("░░░░░░░");
    expect(bar(position(1, 0, 1000), 7, PLAIN)).toBe("█░░░░░░");
    expect(bar(position(999, 0, 1000), 7, PLAIN)).toBe("██████░");
    expect(bar(position(1000, 0, 1000), 7, PLAIN)).toBe("███████");
    expect(bar(position(700, 300, 1000), 7, PLAIN)).toBe("█████▒▒");
  });

  test("stays as long as it is when the budget is overdrawn or allows nothing", () => {
    expect(bar(position(2000, 500, 1000), 7, PLAIN)).toBe("███████");
    expect(bar(position(0, 0, 0), 7, PLAIN)).toBe("░░░░░░░");
    expect(bar(position(1, 0, 0), 7, PLAIN)).toBe("███████");
  });

  test("changes its colour at each threshold and its shape never", () => {
    const [calm, warned, late] = [49, 50, 80].map((used) => bar(position(used, 0, 100), 20, COLOUR));
    expect(calm).toContain("\x1b[32m█");
    expect(warned).toContain("\x1b[33m█");
    expect(late).toContain("\x1b[31m█");
    for (const text of [calm, warned, late]) expect(widthOf(text ?? "")).toBe(20);
  });
});

describe("the bars of a run", () => {
  const positions = [
    position(5, 3, 20, "steps"),
    position(6000, 0, 30_000, "wall_clock_ms"),
    position(11_350, 6000, 25_000),
    { ...position(119_100_000, 240_000_000, 400_000_000, "cost_usd"), budget: "session:monday" },
  ];

  test("fit into 80 columns with owner and figures", () => {
    expect(renderBars(positions, 80, PLAIN)).toEqual([
      "  steps         run      ███████▒▒▒░░░│░░░░░░│░░░░░  5 + 3 of 20",
      "  wall_clock_ms run      █████░░░░░░░░│░░░░░░│░░░░░  6 s of 30 s",
      "  llm_tokens    run      ████████████▒│▒▒▒▒░░│░░░░░  11,350 + 6,000 of 25,000",
      "  cost_usd      session  ████████▒▒▒▒▒│▒▒▒▒▒▒│▒▒░░░  $0.1191 + $0.24 of $0.40",
    ]);
  });

  test("give up the owner, then the figures, then the bar itself as the terminal gets narrower", () => {
    expect(renderBars(positions, 60, PLAIN)[2]).toBe("  llm_tokens    ███████│▒▒░░│░░  11,350 + 6,000 of 25,000");
    expect(renderBars(positions, 40, PLAIN)[2]).toBe("  llm_tokens    █████▒│▒░│░░  45 + 24 %");
    expect(renderBars(positions, 26, PLAIN)[2]).toBe("  llm_tokens    45 + 24 %");
    expect(renderBars(positions, 10, PLAIN)[2]).toBe("  llm_tok…");
  });

  test("never pass the width, with and without colour", () => {
    for (let columns = 1; columns <= 130; columns++) {
      for (const style of [PLAIN, COLOUR]) {
        for (const line of renderBars(positions, columns, style)) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      }
    }
  });

  test("keep the length of the bar while the figures change", () => {
    const [before] = renderBars([position(0, 0, 25_000)], 80, PLAIN);
    const [after] = renderBars([position(17_225, 6000, 25_000)], 80, PLAIN);
    expect(before?.lastIndexOf("░")).toBe(after?.lastIndexOf("░"));
  });
});
