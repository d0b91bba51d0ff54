import { expect, test } from "vitest";
import { STANDARD } from "../../../src/core/dimensions.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { type RefusalReport, refusalBody, refusalStatus, reportDecision } from "../../../src/models/meter/refusal.js";

const REPORT: RefusalReport = {
  code: "budget_exceeded",
  message: "no more",
  hint: "ask",
  dimension: "steps",
  limit: 3,
};
const BODY = refusalBody(REPORT);

test.each<readonly [string, unknown]>([
  ["as it is", new BudgetExceededError(REPORT)],
  ["as a cause", new Error("outer", { cause: new Error("inner", { cause: new BudgetExceededError(REPORT) }) })],
  ["as OpenAI and Anthropic keep it", Object.assign(new Error("402"), { status: 402, error: BODY })],
  ["as OpenAI unwraps it", Object.assign(new Error("402"), { status: 402, error: BODY.error })],
  ["as the AI SDK keeps it", Object.assign(new Error("402"), { responseBody: JSON.stringify(BODY) })],
  ["after retries", Object.assign(new Error("gave up"), { lastError: { data: BODY }, errors: [] })],
  ["among several", new AggregateError([new Error("other"), new BudgetExceededError(REPORT)])],
])("a refusal is found %s", (_, error) => {
  expect(BudgetExceededError.from(error)?.report).toMatchObject(REPORT);
});

test("a stream that a budget has broken off has no room for the report", () => {
  const error = { type: "budget_exceeded", code: "budget_exceeded", message: "the time has run out" };
  const found = BudgetExceededError.from(Object.assign(new Error("terminated"), { error }));
  expect(found?.report).toMatchObject({ code: "budget_exceeded", message: "the time has run out" });
  // Where there is one, it wins over what stands around it.
  const whole = Object.assign(new Error("402"), error, { error: BODY.error });
  expect(BudgetExceededError.from(whole)?.report).toMatchObject(REPORT);
});

test("an error of a database, which has hints too, is none", () => {
  expect(
    BudgetExceededError.from({ code: "42P01", message: "no such relation", hint: "Perhaps you meant" }),
  ).toBeNull();
});

test("what is none is not found", () => {
  const circle: { cause?: unknown } = new Error("round");
  circle.cause = circle;
  for (const error of [
    null,
    undefined,
    1,
    "text",
    "{",
    '{"bursar":',
    new Error("no"),
    { error: { message: "x" } },
    circle,
  ]) {
    expect(BudgetExceededError.from(error)).toBeNull();
  }
});

test("it says what happened and what to do", () => {
  const error = new BudgetExceededError(REPORT);
  expect(error.message).toBe("no more; ask");
  expect(error.code).toBe("budget_exceeded");
});

test("the body has the message wherever an SDK looks for it", () => {
  expect(BODY).toMatchObject({ type: "error", error: { type: "budget_exceeded", code: "budget_exceeded" } });
  expect(BODY.error).toMatchObject({ message: "no more; ask", bursar: REPORT });
  expect(refusalStatus(REPORT)).toBe(402);
  expect(refusalStatus({ ...REPORT, code: "invalid_request" })).toBe(400);
});

test("a finding is told in dollars, and what remains is never negative", () => {
  const figures = { asked: 1_000_000_000, used: 3_000_000_000, reserved: 0, limit: 2_000_000_000 };
  const finding = {
    budget: "b",
    scope: "run",
    dimension: "cost_usd",
    refusal: "exhausted",
    policy: "hard_stop",
    ...figures,
  } as const;
  const report = reportDecision({ kind: "stopped", findings: [finding] }, "no", STANDARD);
  expect(report).toMatchObject({ code: "budget_exceeded", scope: "b", asked: 1, used: 3, limit: 2, remaining: 0 });
  // A smaller call helps where something is left, and nowhere else.
  const hintOf = (refusal: "too_large" | "exhausted") =>
    reportDecision({ kind: "stopped", findings: [{ ...finding, refusal }] }, "no", STANDARD).hint;
  expect([hintOf("too_large"), hintOf("exhausted")].map((hint) => hint.includes("smaller"))).toEqual([true, false]);
});

test("waiting in vain is no exhaustion", () => {
  expect(reportDecision({ kind: "busy", findings: [] }, "busy", STANDARD).code).toBe("budget_busy");
});
