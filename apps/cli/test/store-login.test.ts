import { expect, test } from "vitest";
import { command } from "../src/arguments/command-line.js";

test.each([
  "postgres://ann:secret@db/bursar",
  "postgres://db/bursar?user=ann&password=secret",
  "postgres://db/bursar?schema=x&PASSWORD=secret",
])("a command that others are shown does not repeat the login in %s", (store) => {
  expect(command("approve", "a-1", { store }, null)).toBe("bursar approve a-1");
});

test.each(["postgres://db/bursar", "postgres://db/bursar?schema=team", "sqlite:/data/bursar.db"])(
  "a store without one is named, as in %s",
  (store) => {
    expect(command("approve", "a-1", { store }, null).replaceAll("'", "")).toBe(`bursar approve a-1 --store ${store}`);
  },
);
