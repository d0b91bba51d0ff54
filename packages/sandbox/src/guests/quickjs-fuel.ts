import type { GuestFuel } from "./guest-fuel.js";

/** Measured, and written by `node bench/dist/sandbox/figures.js --write`; tests compare it with the guest. */
export const QUICKJS_FUEL: GuestFuel = {
  costs: "1",
  start: 45_146_033,
  empty: 30_460,
  work: [
    {
      name: "1,000,000 turns of `for (let i = 0; i < 1_000_000; i++);`",
      code: "for (let i = 0; i < 1_000_000; i++);",
      fuel: 473_050_589,
    },
    {
      name: "1,000,000 turns with `total += i`",
      code: "let total = 0; for (let i = 0; i < 1_000_000; i++) total += i;",
      fuel: 1_011_385_175,
    },
    {
      name: "100,000 calls of a small function",
      before: "const f = (x) => x;",
      code: "for (let i = 0; i < 100_000; i++) f(i);",
      fuel: 123_959_699,
    },
    {
      name: "sorting an array of 100,000 numbers with `(a, b) => a - b`",
      before: "const xs = Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003);",
      code: "xs.sort((a, b) => a - b);",
      fuel: 1_350_559_046,
    },
    {
      name: "sorting a `Float64Array` of 100,000 numbers",
      before: "const xs = Float64Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003);",
      code: "xs.sort();",
      fuel: 88_067_502,
    },
    {
      name: "1 MB of JSON: `JSON.stringify` and `JSON.parse`",
      before:
        "const rows = Array.from({ length: 15_780 }, (_, i) => ({ id: i, name: 'item ' + i, price: i / 4, tags: ['a', 'b'] }));",
      code: "JSON.parse(JSON.stringify(rows));",
      fuel: 971_872_169,
    },
  ],
  imports: [],
};
