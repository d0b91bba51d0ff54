import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../src/ambient/open-budget.js";
import { withBudget } from "../../src/ambient/with-budget.js";
import { verifyChain } from "../../src/core/chain/verify.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { deferred } from "../../src/runtime/deferred.js";
import { type ApprovalQuestion, currentPurse } from "../../src/runtime/purse.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { ASK, errorOf, HELLO, openScene, refusalOf, until } from "../models/fetch/scene.js";

const ANSWER = { kind: "text", text: "Hello.", usage: { prompt_tokens: 30, completion_tokens: 7 } } as const;

test("a budget that is named by its parent tells the chain that it is written into, however deep it lies", async () => {
  await using store = new MemoryStore();
  await using outer = await openBudget({ steps: 9 }, { store, name: "outer" });
  await using middle = await openBudget({ steps: 5 }, { store, parent: "outer", name: "middle" });
  await using inner = await openBudget({ steps: 3 }, { store, parent: "middle", name: "inner" });
  await using other = await openBudget({ steps: 9 }, { store, name: "other" });
  const within = await other.run(() => openBudget({ steps: 1 }, { parent: "middle", name: "within" }));

  for (const budget of [middle, inner, within]) expect(budget.purse.chain).toBe(outer.purse.chain);
  expect(await verifyChain(inner.chain(), { hash: sha256Hex })).toMatchObject({ ok: true, links: 4 });
  await within.end();
});

describe("budgets inside of budgets", () => {
  test("both count, and the inner one refuses first", async () => {
    await using at = await openScene(() => ANSWER);
    await withBudget({ steps: 3 }, async (outer) => {
      await withBudget({ steps: 1 }, async (inner) => {
        await ASK.chat(at);
        expect(await refusalOf(ASK.chat(at))).toMatchObject({ dimension: "steps", scope: inner.id, limit: 1 });
      });
      expect((await outer.state()).used).toMatchObject({ steps: 1, llm_tokens: 37 });
      await ASK.chat(at);
      await withBudget({ steps: 10 }, async () => {
        await ASK.chat(at);
        expect(await refusalOf(ASK.chat(at))).toMatchObject({ scope: outer.id, limit: 3, used: 3 });
      });
    });
    expect(at.model.count).toBe(3);
  });

  test("the outer one refuses what the inner one would take", async () => {
    await using at = await openScene(() => ANSWER);
    await withBudget({ llm_tokens: 10 }, (outer) =>
      withBudget({ llm_tokens: 100_000 }, async () => {
        expect(await refusalOf(ASK.chat(at))).toMatchObject({ dimension: "llm_tokens", scope: outer.id });
      }),
    );
    expect(at.model.count).toBe(0);
  });

  test("none is opened in one that is exhausted, and it says why", async () => {
    await using at = await openScene(() => ANSWER);
    await withBudget({ steps: 1 }, async () => {
      await ASK.chat(at);
      await expect(withBudget({ steps: 1 }, () => ASK.chat(at))).rejects.toThrow(/takes no further budgets: steps/);
    });
    expect(at.model.count).toBe(1);
  });

  test("one that is to lie in none says so", async () => {
    await using at = await openScene(() => ANSWER);
    await withBudget({ steps: 1 }, async (outer) => {
      await withBudget({ steps: 5 }, () => Promise.all([ASK.chat(at), ASK.messages(at)]), { parent: null });
      expect((await outer.state()).used.steps ?? 0).toBe(0);
    });
  });

  test("a store of its own is no way out", async () => {
    await using store = new MemoryStore();
    await withBudget({ steps: 1 }, async () => {
      await expect(openBudget({ steps: 5 }, { store })).rejects.toThrow("options.store is another one");
      await using free = await openBudget({ steps: 5 }, { store, parent: null });
      expect(free.purse.store).toBe(store);
    });
    await withBudget({ steps: 1 }, () => withBudget({ steps: 5 }, async () => {}, { store }), { store });
  });

  test("all of them write one chain, and it verifies", async () => {
    await using at = await openScene(() => ANSWER);
    const lines: string[] = [];
    await withBudget({ steps: 5 }, async (outer) => {
      await withBudget({ steps: 1 }, () => ASK.chat(at));
      for await (const line of outer.chain()) lines.push(line);
    });
    expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
  });
});

describe("approval", () => {
  const policies = { steps: "approval_required" } as const;

  test("extends the budget that stands in the way, however deep the call is made", async () => {
    await using at = await openScene(() => ANSWER);
    const asked: string[] = [];
    const approve = async ({ budget, dimension }: ApprovalQuestion) => {
      asked.push(`${budget} ${dimension}`);
      return { steps: 2 };
    };
    await withBudget(
      { steps: 1 },
      async () => {
        await withBudget({ llm_tokens: 1_000_000 }, async () => {
          await ASK.chat(at);
          await ASK.chat(at);
        });
        await withBudget(
          { steps: 1 },
          async () => {
            await ASK.chat(at);
            await ASK.chat(at);
          },
          { name: "inner" },
        );
      },
      { policies, approve, name: "outer" },
    );
    expect(asked).toEqual(["outer steps", "outer steps", "inner steps"]);
    expect(at.model.count).toBe(4);
  });

  test("is asked for once by calls that stand before the same limit", async () => {
    await using at = await openScene(() => ANSWER);
    let questions = 0;
    const approve = async () => {
      questions++;
      await new Promise((resolve) => setImmediate(resolve));
      return { steps: 100 };
    };
    await withBudget(
      { steps: 1 },
      async () => {
        await ASK.chat(at);
        await Promise.all(Array.from({ length: 20 }, () => ASK.chat(at)));
      },
      { policies, approve },
    );
    expect(at.model.count).toBe(21);
    expect(questions).toBe(1);
  });

  test("that is denied, or cannot be given, leaves the call refused, and it is asked for once", async () => {
    await using at = await openScene(() => ANSWER);
    const answers = [
      async () => null,
      async () => Promise.reject(new Error("Nobody is at home")),
      async () => ({ steps: -1 }),
      async () => ({ stepps: 1 }) as never,
    ];
    const messages: string[] = [];
    for (const answer of answers) {
      let questions = 0;
      await withBudget(
        { steps: 1 },
        async () => {
          await ASK.chat(at);
          const { code, message, dimension } = await refusalOf(ASK.messages(at));
          expect({ code, dimension }).toEqual({ code: "approval_required", dimension: "steps" });
          messages.push(message);
        },
        {
          policies,
          approve: () => {
            questions++;
            return answer();
          },
        },
      );
      expect(questions).toBe(1);
    }
    expect(messages[1]).toContain("Nobody is at home");
    expect(messages[2]).toContain("steps is -1");
    expect(messages[3]).toContain("stepps");
    expect(at.model.count).toBe(answers.length);
  });

  test("is not waited for by whoever hangs up", async () => {
    await using at = await openScene(() => ANSWER);
    const abort = new AbortController();
    const approve = () => {
      abort.abort();
      return new Promise<never>(() => {});
    };
    await withBudget(
      { steps: 1 },
      async () => {
        await ASK.chat(at);
        const body = { model: "gpt-4-scripted", messages: HELLO };
        const error = await errorOf(at.openai.chat.completions.create(body, { signal: abort.signal }));
        expect(error).toBeInstanceOf(OpenAI.APIUserAbortError);
      },
      { policies, approve },
    );
    expect(at.model.count).toBe(1);
  });

  test("that never suffices is not asked for for ever", async () => {
    await using at = await openScene(() => ANSWER);
    let questions = 0;
    const approve = async () => {
      questions++;
      return { llm_tokens: 1 };
    };
    await withBudget(
      { llm_tokens: 1 },
      async () => {
        expect(await refusalOf(ASK.chat(at))).toMatchObject({ code: "approval_required" });
      },
      { approve },
    );
    expect(questions).toBe(10);
    expect(at.model.count).toBe(0);
  });
});

describe("budgets beside each other", () => {
  test("do not see each other's calls", async () => {
    await using at = await openScene(() => ANSWER);
    const states = await Promise.all(
      [1, 2, 3, 4].map((calls) =>
        withBudget({ steps: 5 }, async (budget) => {
          await Promise.all(Array.from({ length: calls }, () => ASK.chat(at)));
          return budget.state();
        }),
      ),
    );
    expect(states.map(({ used }) => used.steps)).toEqual([1, 2, 3, 4]);
    expect(currentPurse()).toBeNull();
  });

  test("can be opened while calls hold all there is", async () => {
    await using at = await openScene([{ ...ANSWER, latency_ms: 20 }, ANSWER]);
    await withBudget({ llm_output_tokens: 500 }, async (outer) => {
      const body = { model: "gpt-4-scripted", messages: HELLO };
      const first = at.openai.chat.completions.create(body);
      await until(() => at.model.count === 1);
      expect((await outer.state()).held.llm_output_tokens).toBe(500);
      await withBudget({ llm_output_tokens: 100 }, () => at.openai.chat.completions.create(body));
      await first;
      expect((await outer.state()).used.llm_output_tokens).toBe(14);
    });
    expect(at.model.requests[1]?.max_tokens).toBe(100);
  });

  test("share what the one around them has", async () => {
    await using at = await openScene(() => ANSWER);
    await withBudget({ steps: 5 }, async (outer) => {
      const asked = await Promise.allSettled(
        Array.from({ length: 4 }, () => withBudget({ steps: 3 }, () => Promise.all([ASK.chat(at), ASK.chat(at)]))),
      );
      expect(asked.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
      expect((await outer.state()).used.steps).toBe(5);
    });
    expect(at.model.count).toBe(5);
  });
});

describe("the end of a budget", () => {
  test("comes when its work is done, and also when that throws", async () => {
    await using store = new MemoryStore();
    await expect(
      withBudget(
        { steps: 1 },
        () => {
          throw new Error("No.");
        },
        { store, name: "work" },
      ),
    ).rejects.toThrow("No.");
    expect((await store.budget("work"))?.ended).toBe(true);
  });

  test("waits for a stream that is read afterwards", async () => {
    await using at = await openScene([ANSWER]);
    await using store = new MemoryStore();
    const body = { model: "gpt-4-scripted", messages: HELLO, stream: true } as const;
    const stream = await withBudget({ steps: 1 }, () => at.openai.chat.completions.create(body), {
      store,
      name: "late",
    });
    expect((await store.budget("late"))?.ended).toBe(false);
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    expect(text).toBe("Hello.");
    await until(async () => (await store.budget("late"))?.ended === true);
    expect((await store.budget("late"))?.used).toMatchObject({ llm_tokens: 37, steps: 1 });
  });

  test("is told to calls that come too late, which are not sent", async () => {
    await using at = await openScene(() => ANSWER);
    const over = deferred<void>();
    const { call } = await withBudget({ steps: 5 }, async () => ({ call: over.promise.then(() => ASK.chat(at)) }));
    over.resolve();
    const hint = expect.stringContaining("await it inside of withBudget(…), or open one with openBudget(…)");
    expect(await refusalOf(call)).toMatchObject({ code: "no_budget", hint });
    expect(at.model.count).toBe(0);
  });

  test("loses nothing that was given when the store fails then", async () => {
    class Failing extends MemoryStore {
      override apply: MemoryStore["apply"] = (operations) => {
        if (operations.some(({ op }) => op === "end")) return Promise.reject(new Error("The disk is full"));
        return super.apply(operations);
      };
    }
    await using store = new Failing();
    expect(await withBudget({ steps: 1 }, () => 7, { store })).toBe(7);
  });
});

describe("a budget with a name", () => {
  test("goes on where it stood, with the limits it had", async () => {
    await using at = await openScene(() => ANSWER);
    await using store = new MemoryStore();
    const first = await openBudget({ steps: 2 }, { store, name: "nightly" });
    await first.run(() => ASK.chat(at));
    const second = await openBudget({ steps: 99 }, { store, name: "nightly" });
    await second.run(async () => {
      await ASK.chat(at);
      expect(await refusalOf(ASK.chat(at))).toMatchObject({ dimension: "steps", limit: 2, used: 2 });
    });
    await second.end();
    await expect(openBudget({ steps: 1 }, { store, name: "nightly" })).rejects.toThrow("has ended");
    await first.end();
  });
});

test("a limit that is mistyped is told of also where the budget goes on with those it has", async () => {
  await using store = new MemoryStore();
  await openBudget({ cost_usd: 1 }, { store, name: "nightly" });
  await expect(openBudget({ cots_usd: 2 }, { store, name: "nightly" })).rejects.toThrow("did you mean cost_usd?");
});

test.each([
  ["of one run", "run", ["refused", "refused"]],
  ["that is shared", "shared", ["refused", "done"]],
] as const)("a call that is too large for a budget %s, and a smaller one after it", async (_, scope, kinds) => {
  await using budget = await openBudget({ steps: 2 }, { scope });
  const { gate } = budget.purse;
  const call = (steps: number) =>
    gate.call({ budget: budget.id, kind: "tool", capability_id: "search", asked: { steps } }, async () => ({
      value: 1,
    }));
  expect([(await call(3)).kind, (await call(1)).kind]).toEqual(kinds);
});

test("bad options are refused by name", async () => {
  await expect(withBudget({ steps: 1 }, undefined as never)).rejects.toThrow("work is undefined; allowed: a function");
  await expect(openBudget({ steps: -1 })).rejects.toThrow("steps");
  await expect(openBudget({ steps: 1 }, { wait_ms: -1 })).rejects.toThrow("wait_ms");
  await expect(openBudget({ steps: 1 }, { approve: true as never })).rejects.toThrow("approve");
  await expect(openBudget({ steps: 1 }, { naem: "x" } as never)).rejects.toThrow("naem");
  await expect(openBudget({ steps: 1 }, { scope: "all" as never })).rejects.toThrow(
    'is "all"; allowed: run and shared',
  );
  await expect(openBudget({ stepps: 1 } as never)).rejects.toThrow("stepps");
});

test("a budget inside of another may wait for a shorter time", async () => {
  await using at = await openScene(() => ({ kind: "hang" }));
  const abort = new AbortController();
  await withBudget({ steps: 1 }, async () => {
    const body = { model: "gpt-4-scripted", messages: HELLO };
    const first = at.openai.chat.completions.create(body, { signal: abort.signal }).catch(() => {});
    await until(() => at.model.count === 1);
    const refused = await withBudget({ steps: 1 }, () => refusalOf(ASK.chat(at)), { wait_ms: 1 });
    expect(refused).toMatchObject({ code: "budget_busy" });
    abort.abort();
    await first;
  });
  expect(at.model.count).toBe(1);
});
