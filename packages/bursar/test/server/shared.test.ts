import { expect, test } from "vitest";
import { Shared } from "../../src/server/shared.js";

/** Something that is made when a test says so. */
function making() {
  const made: { id: string; finish: (value: string) => void; fail: (error: Error) => void }[] = [];
  const shared = new Shared<string>((id) => new Promise((finish, fail) => made.push({ id, finish, fail })));
  return { made, shared };
}

test("what many ask for at the same time is made once, and never before they have asked", async () => {
  const { made, shared } = making();
  const first = shared.get("a");
  const [second, third] = [shared.get("a"), shared.get("a")];
  const other = shared.get("b");
  expect(made.map(({ id }) => id)).toEqual(["a", "b"]);
  made[0]?.finish("old");
  made[1]?.finish("else");
  expect([await first, await other]).toEqual(["old", "else"]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(made).toHaveLength(3);
  made[2]?.finish("new");
  expect(await Promise.all([second, third])).toEqual(["new", "new"]);
});

test("a failure is of those who asked for it, and not of those after them", async () => {
  const { made, shared } = making();
  const first = shared.get("a");
  const second = shared.get("a");
  made[0]?.fail(new Error("away"));
  await expect(first).rejects.toThrow("away");
  await new Promise((resolve) => setImmediate(resolve));
  made[1]?.finish("there");
  expect(await second).toBe("there");
  const third = shared.get("a");
  made[2]?.finish("again");
  expect(await third).toBe("again");
});
