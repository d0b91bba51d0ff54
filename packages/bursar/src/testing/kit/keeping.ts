import assert from "node:assert/strict";
import { parseLine } from "../../core/chain/link.js";
import type { Document } from "../../core/document.js";
import { TENANT_CHAIN } from "../../core/keep.js";
import type { PutOperation } from "../../core/operation.js";
import type { Latest, Oldest } from "../../ports/store.js";
import type { Case, Scene } from "./scene.js";

const RUN: PutOperation = {
  op: "put",
  kind: "run",
  id: "run-1",
  budget: null,
  status: "Running",
  body: { program: "é ✓", at: 1.5, list: [null, true] },
  version: 0,
};

/** Never lost: documents, journal and anchors, in the same transaction as everything else. */
export const KEEPING: readonly Case[] = [
  {
    name: "a document is kept as it is, and only whoever has read the newest version can change it",
    async run(scene) {
      const [{ document }] = await scene.store.apply([RUN]);
      assert.equal(document.version, 1);
      assert.deepEqual(await scene.store.document("run", "run-1"), document);
      await scene.store.apply([{ ...RUN, status: "Paused", version: 1 }]);
      await assert.rejects(scene.store.apply([{ ...RUN, status: "Completed", version: 1 }]), /has version 2/);
      await assert.rejects(scene.store.apply([{ ...RUN, id: "other", version: 1 }]), /is not there/);
      assert.equal((await scene.store.document("run", "run-1"))?.status, "Paused");
      assert.equal(await scene.store.document("approval", "run-1"), null);
    },
  },
  {
    name: "who was not fast enough has done nothing at all",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 5 }));
      await scene.store.apply([RUN]);
      const head = await scene.store.head("run");
      const asked = scene.amounts({ steps: 1 });
      const late = scene.store.apply([
        { op: "reserve", budget: "run", call: "a", kind: "tool", asked },
        { op: "journal", run: "run-1", key: "1", entry: {} },
        RUN,
      ]);
      await assert.rejects(late, { name: "StaleError", code: "stale" });
      await scene.expectUsed("run", {});
      assert.deepEqual(await scene.store.head("run"), head);
      assert.deepEqual(await all(scene.store.journal("run-1")), []);
    },
  },
  {
    name: "of a hundred who answer an approval at once, one decides",
    async run(scene) {
      const asked: PutOperation = { ...RUN, kind: "approval", id: "approval-1", status: "pending" };
      await scene.store.apply([asked]);
      const answers = await Promise.allSettled(
        Array.from({ length: 100 }, (_, index) =>
          scene.store.apply([{ ...asked, status: "approved", body: { by: `person-${index}` }, version: 1 }]),
        ),
      );
      assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1);
      assert.equal((await scene.store.document("approval", "approval-1"))?.version, 2);
    },
  },
  {
    name: "documents are found by kind and status, in the order of their names, however many there are",
    async run(scene) {
      const count = 1203;
      const id = (index: number) => `session-${String(index).padStart(5, "0")}`;
      for (let from = 0; from < count; from += 100) {
        const some = Array.from({ length: Math.min(100, count - from) }, (_, index) => from + index);
        await scene.store.apply(
          some.map((index) => ({
            ...RUN,
            kind: "session" as const,
            id: id(index),
            status: index % 3 === 0 ? "ended" : "open",
          })),
        );
      }
      const found = await all<Document>(scene.store.documents("session"));
      assert.deepEqual(
        found.map((each) => each.id),
        Array.from({ length: count }, (_, index) => id(index)),
      );
      assert.equal((await all(scene.store.documents("session", "ended"))).length, 401);
      assert.deepEqual(await all(scene.store.documents("lease")), []);
    },
  },
  {
    name: "the latest documents come first, page by page, in places that no change moves",
    async run(scene) {
      const count = 1103;
      // Names that sort in another order than the one in which they are written.
      const id = (index: number) => `${(index * 7919) % count}-${index}`;
      const status = (index: number) => (index % 4 === 0 ? "ended" : "open");
      for (let from = 0; from < count; from += 100) {
        const some = Array.from({ length: Math.min(100, count - from) }, (_, index) => from + index);
        await scene.store.apply(
          some.map((index) => ({ ...RUN, kind: "approval" as const, id: id(index), status: status(index) })),
        );
      }
      await scene.store.apply([
        { ...RUN, kind: "approval", id: id(0), status: "ended", body: { changed: true }, version: 1 },
        { ...RUN, kind: "approval", id: id(500), status: "open", version: 1 },
      ]);
      const down = Array.from({ length: count }, (_, index) => count - 1 - index);
      const ended = down.filter((index) => status(index) === "ended" && index !== 500);
      assert.deepEqual(await idsOf(scene, { limit: 2000 }), down.map(id));
      assert.deepEqual(await idsOf(scene, { limit: 3 }), down.slice(0, 3).map(id));
      assert.deepEqual(await idsOf(scene, { limit: 700, before: id(1000) }), down.slice(103, 803).map(id));
      assert.deepEqual(await idsOf(scene, { limit: 2000, status: "ended" }), ended.map(id));
      assert.deepEqual(await idsOf(scene, { limit: 2, status: "ended", before: id(502) }), [id(496), id(492)]);
      assert.deepEqual(await idsOf(scene, { limit: 5, before: id(0) }), []);
      assert.deepEqual(await idsOf(scene, { limit: 5, before: "nobody" }), []);
      assert.deepEqual(await scene.store.counts("approval"), { ended: ended.length, open: count - ended.length });
      assert.deepEqual(await scene.store.counts("key"), {});
      const up = down.toReversed();
      const oldest = async (wanted: Oldest) => names(scene.store.oldest("approval", wanted));
      assert.deepEqual(await oldest({ limit: 2000 }), up.map(id));
      assert.deepEqual(await oldest({ limit: 3 }), up.slice(0, 3).map(id));
      assert.deepEqual(await oldest({ limit: 700, after: id(100) }), up.slice(101, 801).map(id));
      assert.deepEqual(await oldest({ limit: 2, status: "ended", after: id(498) }), [id(504), id(508)]);
      assert.deepEqual(await oldest({ limit: 5, after: id(count - 1), only: [] }), []);
      assert.deepEqual(await oldest({ limit: 5, after: "nobody" }), []);
      const [first] = await all<Document>(scene.store.latest("approval", { limit: 1, before: id(1) }));
      assert.deepEqual(first, await scene.store.document("approval", id(0)));
    },
  },
  {
    name: "documents are found by the beginning of their ids, in the order of these, and no more than are wanted",
    async run(scene) {
      const ids = [
        "",
        "0",
        "01",
        "019",
        "019a",
        "019A",
        "019é",
        "019-é\u{1f600}",
        "019_",
        "019%",
        "02",
        "Ω",
        "Ωa",
      ].slice(1);
      await scene.store.apply(ids.map((id) => ({ ...RUN, id, body: { id, more: "x" } })));
      const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
      for (const prefix of ["", "0", "01", "019", "019a", "019-é", "019_", "019%", "Ω", "Ωab", "zzz", "'"]) {
        const wanted = ids.filter((id) => id.startsWith(prefix)).toSorted(byBytes);
        assert.deepEqual(await names(scene.store.beginning("run", { prefix, limit: 100 })), wanted);
        assert.deepEqual(await names(scene.store.beginning("run", { prefix, limit: 2 })), wanted.slice(0, 2));
        const after = wanted[1];
        if (after === undefined) continue;
        assert.deepEqual(await names(scene.store.beginning("run", { prefix, after, limit: 3 })), wanted.slice(2, 5));
      }
      await scene.store.apply([{ ...RUN, id: "019b", status: "paused" }]);
      const paused = (prefix: string) => names(scene.store.beginning("run", { prefix, status: "paused", limit: 5 }));
      assert.deepEqual([await paused("0"), await paused("02")], [["019b"], []]);
      const [first] = await all<Document>(scene.store.beginning("run", { prefix: "Ωa", limit: 1, only: ["id"] }));
      assert.deepEqual(first?.body, { id: "Ωa" });
      assert.deepEqual(await names(scene.store.beginning("approval", { prefix: "0", limit: 5 })), []);
    },
  },
  {
    name: "of the latest documents only what is wanted can be read",
    async run(scene) {
      const body = {
        program: { name: "é ✓\u0000", source: "x".repeat(1000) },
        at: 1.5,
        list: [null, true],
        none: null,
      };
      await scene.store.apply([
        { ...RUN, id: "run-0", body: {} },
        { ...RUN, body },
      ]);
      const found = async (only: readonly string[]) => all(scene.store.latest("run", { limit: 2, only }));
      const [first, second] = await found(["at", "program.source", "list", "none", "nothing.inside"]);
      const { source } = body.program;
      const nothing = { inside: null };
      assert.deepEqual(first?.body, { at: 1.5, list: [null, true], none: null, nothing, program: { source } });
      assert.deepEqual([second?.body.list, second?.version], [null, 1]);
      const [whole] = await found(["at"]);
      assert.deepEqual(whole, {
        kind: "run",
        id: "run-1",
        budget: null,
        status: "Running",
        body: { at: 1.5 },
        version: 1,
      });
      assert.deepEqual(
        (await found([])).map((each) => each.body),
        [{}, {}],
      );
      await assert.rejects(found(["at'"]), { name: "InputError" });
    },
  },
  {
    name: "an entry of a journal is written once; the second time tells what stands there",
    async run(scene) {
      const entry = { result: ["ü", 1e-9, null] };
      const journal = { op: "journal", run: "run-1", key: "step/1", entry } as const;
      const [first] = await scene.store.apply([journal]);
      assert.deepEqual([first.repeated, first.entry.entry], [false, entry]);
      const [again, other] = await scene.store.apply([
        { ...journal, entry: { result: "another" } },
        { ...journal, key: "step/0" },
      ]);
      assert.deepEqual([again.repeated, again.entry.entry], [true, entry]);
      assert.equal(other.repeated, false);
      const keys = (await all(scene.store.journal("run-1"))).map(({ key }) => key);
      assert.deepEqual(keys, ["step/1", "step/0"], "in the order in which they were written");
      assert.deepEqual(await all(scene.store.journal("run-2")), []);
      assert.deepEqual(await scene.store.entry("run-1", "step/1"), { run: "run-1", key: "step/1", entry });
      assert.equal(await scene.store.entry("run-1", "step/2"), null);
      assert.equal(await scene.store.entry("run-2", "step/1"), null);
    },
  },
  {
    name: "what is not JSON is refused by name, and nothing is kept of it",
    async run(scene) {
      const broken = { ...RUN, body: { figure: Number.NaN } };
      await assert.rejects(scene.store.apply([broken]), /figure/);
      await assert.rejects(
        scene.store.apply([{ op: "journal", run: "run-1", key: "1", entry: { at: undefined } as never }]),
        /at/,
      );
      await assert.rejects(scene.store.apply([{ ...RUN, kind: "thing" as never }]), /kind/);
      await assert.rejects(scene.store.apply([{ ...RUN, version: -1 }]), /version/);
      assert.equal(await scene.store.document("run", "run-1"), null);
    },
  },
  {
    name: "a reservation that must be admitted undoes its list when it is not",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 2 }));
      await scene.reserve("run", "a", { steps: 1 });
      const head = await scene.store.head("run");
      const large = {
        op: "reserve",
        budget: "run",
        call: "b",
        kind: "tool",
        asked: scene.amounts({ steps: 2 }),
      } as const;
      const list = scene.store.apply([
        { op: "commit", call: "a", used: scene.amounts({ steps: 1 }) },
        { ...large, must: true },
      ]);
      await assert.rejects(list, { name: "RefusedError", code: "refused" });
      await scene.expectUsed("run", {}, { steps: 1 });
      assert.deepEqual(await scene.store.head("run"), head);
    },
  },
  {
    name: "the heads of all chains that have grown are recorded in the tenant's chain, and once only",
    async run(scene) {
      await scene.open("first", scene.limits({ steps: 5 }));
      await scene.open("second", scene.limits({ steps: 5 }));
      assert.deepEqual(await anchored(scene), ["first#0", "second#0"]);
      assert.deepEqual(await anchored(scene), []);
      await scene.spend("second", "a", { steps: 1 });
      assert.deepEqual(await anchored(scene), ["second#2"]);
      const [line = ""] = await all(scene.store.chain(TENANT_CHAIN, 1));
      const { hash } = (await scene.store.head("second")) ?? {};
      assert.deepEqual(parseLine(line).data.heads, [{ chain: "second", seq: 2, hash }]);
      await scene.events(TENANT_CHAIN);
    },
  },
  {
    name: "anchoring and growing in one list leaves nothing out",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 5 }));
      const record = { op: "record", budget: "run", action: { action_type: "Note", data: {} } } as const;
      await scene.store.apply([record, { op: "anchor" }, record]);
      assert.deepEqual(await anchored(scene), ["run#2"]);
    },
  },
  {
    name: "more dead reservations than one transaction takes are settled, the oldest first",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 5000 }));
      const now = scene.clock.now().instant;
      const asked = scene.amounts({ steps: 1 });
      for (let from = 0; from < 1200; from += 200) {
        await scene.store.apply(
          Array.from({ length: 200 }, (_, index) => ({
            op: "reserve" as const,
            budget: "run",
            call: `call-${from + index}`,
            kind: "model" as const,
            asked,
            expires: now + 2000 - from - index,
          })),
        );
      }
      scene.clock.advance(3000);
      const [{ calls }] = await scene.store.apply([{ op: "expire" }]);
      assert.equal(calls.length, 1000);
      assert.equal(calls[0], "call-1199");
      const [{ calls: rest }] = await scene.store.apply([{ op: "expire" }]);
      assert.equal(rest.length, 200);
      const { used, reserved } = await scene.budget("run");
      assert.deepEqual([used.steps, reserved.steps], [1200, 0]);
    },
  },
];

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function idsOf(scene: Scene, wanted: Latest): Promise<readonly string[]> {
  return names(scene.store.latest("approval", wanted));
}

async function names(documents: AsyncIterable<Document>): Promise<readonly string[]> {
  return (await all(documents)).map(({ id }) => id);
}

/** Anchors, and says what was anchored, as ids of links. */
async function anchored(scene: Scene): Promise<readonly string[]> {
  const [{ heads }] = await scene.store.apply([{ op: "anchor" }]);
  return heads.map(({ chain, seq }) => `${chain}#${seq}`);
}
