import { expect, test } from "vitest";
import { type BudgetId, Gate, MemoryStore, type Path } from "../../src/index.js";

/** A store whose paths cannot be read before they may be. */
class SlowStore extends MemoryStore {
  readPaths: () => void = () => {};
  private readonly mayRead = new Promise<void>((resolve) => {
    this.readPaths = resolve;
  });

  override async path(id: BudgetId): Promise<Path> {
    await this.mayRead;
    return super.path(id);
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("a call that is about to wait is not passed by one that comes later", async () => {
  const store = new SlowStore();
  const gate = new Gate({ store });
  await gate.open("run", { limits: { llm_tokens: 10 } });
  const made: string[] = [];
  const call = (name: string, until: Promise<void> = Promise.resolve()) =>
    gate.call({ budget: "run", capability_id: name, asked: { llm_tokens: 10 } }, async () => {
      made.push(name);
      await until;
      return { value: name, usage: { llm_tokens: 0 } };
    });
  let endFirst = () => {};
  const first = call("first", new Promise((resolve) => (endFirst = resolve)));
  await turns();

  const second = call("second");
  await turns();
  endFirst();
  await first;
  const third = call("third");
  await turns();
  store.readPaths();
  await Promise.all([second, third]);

  expect(made).toEqual(["first", "second", "third"]);
});
