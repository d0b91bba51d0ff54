import { FakeClock } from "bursar/testing";
import { expect, test } from "vitest";
import { Patience } from "../src/terminal/patience.js";
import { FakeScreen } from "./screen.js";

test("after a second it says what is waited for and how long, and goes without a trace", () => {
  const clock = new FakeClock();
  const screen = new FakeScreen(40);
  const patience = new Patience(screen, "reading the store", clock);
  clock.advance(999);
  expect(screen.written).toEqual([]);
  clock.advance(1);
  expect(screen.text).toBe("  reading the store … 1 s");
  clock.advance(2000);
  expect(screen.text).toBe("  reading the store … 3 s");
  patience[Symbol.dispose]();
  expect(screen.text).toBe("");
  clock.advance(5000);
  expect(screen.text).toBe("");
});

test("what is done within a second, or seen by nobody, says nothing", () => {
  const clock = new FakeClock();
  const screen = new FakeScreen(40);
  {
    using _ = new Patience(screen, "reading", clock);
    clock.advance(900);
  }
  using _ = new Patience(null, "reading", clock);
  clock.advance(9000);
  expect(screen.written).toEqual([]);
});
