import fc from "fast-check";
import { expect, test } from "vitest";
import { addressOf, type Route, routeOf } from "../src/router/route.js";

const id = fc.string({ minLength: 1, unit: "grapheme" });
const words = fc.string({ unit: "grapheme" });
const children = fc.constantFrom("", "true");
const filter = fc.record({ status: words, session: words, text: words, children, before: words });

const routes: fc.Arbitrary<Route> = fc.oneof(
  fc.constantFrom<Route>({ kind: "overview" }, { kind: "sessions" }, { kind: "keys" }, { kind: "tokens" }),
  fc.constantFrom<Route>({ kind: "config" }, { kind: "verify" }, { kind: "approvals", status: "pending", before: "" }),
  fc.record({ kind: fc.constant("runs" as const), filter }),
  fc.record({ kind: fc.constant("start" as const), program: words }),
  fc.record({ kind: fc.constant("approvals" as const), status: id, before: words }),
  fc.record({
    kind: fc.constantFrom("run" as const, "chain" as const, "budget-chain" as const, "approval" as const),
    id,
  }),
);

test("every route has an address that leads back to it", () => {
  fc.assert(
    fc.property(routes, (route) => {
      const { pathname, search } = new URL(addressOf(route), "http://bursar.example");
      // A browser takes a path of dots for the folder above; no id is made of dots alone.
      fc.pre(!("id" in route) || !/^\.{1,2}$/.test(route.id));
      expect(routeOf(pathname, search)).toEqual(route);
    }),
  );
});

test.for([
  "/nowhere",
  "/runs/a/b",
  "/runs/a/chain/b",
  "/budgets/a",
  "/budgets/a/chain/b",
  "/approvals/a/b",
  "/%E0%A4%A",
  "/constructor",
])("%s is no page, and says so", (path) => {
  expect(routeOf(path, "")).toEqual({ kind: "unknown", path });
});
