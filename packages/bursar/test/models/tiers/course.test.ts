import { expect, test } from "vitest";
import { Course } from "../../../src/models/tiers/course.js";

const OFFERS = [{ quote: { cost_usd: 400 } }, { quote: { cost_usd: 100 } }, { quote: { cost_usd: 0 } }];

test("what a call costs is known at all tiers after one call, in the proportion of their quotes", () => {
  const course = new Course(3);
  course.settle(OFFERS, 0, 200);
  expect([0, 1, 2].map((tier) => course.mean(tier))).toEqual([200, 50, 0]);
});

test("what has cost nothing, because it was answered otherwise or refused, does not make calls look cheap", () => {
  const course = new Course(3);
  course.settle(OFFERS, 0, 0);
  expect(course.mean(0)).toBeNull();
  course.settle(OFFERS, 0, 200);
  course.settle(OFFERS, 0, 0);
  expect(course.mean(0)).toBe(200);
});

test("a model that costs nothing is known to", () => {
  const course = new Course(3);
  course.settle(OFFERS, 2, 0);
  expect([course.mean(2), course.mean(1)]).toEqual([0, 100]);
});

test("a step that goes on is kept in mind, however many others there were; those that ended are forgotten", () => {
  const course = new Course(3);
  const first = course.keep("first", { tier: 1, reason: "first", told: true });
  course.keep("over", { tier: 2, reason: "first", told: true });
  for (let number = 0; number < 3000; number++) {
    course.keep(`step ${number}`, { tier: 0, reason: "first", told: true });
    expect(course.kept("first")).toBe(first);
  }
  expect(course.kept("over")).toBeNull();
  expect(course.keep("first", { tier: 0, reason: "pinned", told: true })).toBe(first);
});
