import { expect, test } from "vitest";
import { hasEnded } from "../../../src/runs/record.js";
import { Dice } from "../../runs/simulation/dice.js";
import { Handle } from "../../runs/simulation/handle.js";
import { ANSWER, driven, OPTIONS, patient } from "./patient.js";
import { COST_NANO, quiet, Scene } from "./scene.js";

test("a process that dies at any write of such a run is followed by another, and nothing is sent or charged twice", async () => {
  let writes = 1;
  for (let at = 0; at < writes; at++) {
    for (const when of at === 0 ? (["calm", "before", "after"] as const) : (["before", "after"] as const)) {
      await using scene = await Scene.open();
      const fate = when === "calm" ? {} : { dies: { at, when } };
      const handle = new Handle(scene.store, scene.clock, new Dice(at), fate);
      const { timer } = handle;
      const desk = scene.desk({ store: handle, timer, worker: "dying" });
      const bursar = scene.process([patient], { store: handle, timer, batches: desk, claim_ms: 3000 });
      const work = (async () => {
        await bursar.start("patient", null, OPTIONS);
        while (!hasEnded(await bursar.drive("r"))) await bursar.collect();
      })();
      let over = false;
      void work.finally(() => {
        over = true;
      });
      for (let turn = 0; turn < 3000 && !over && !handle.dead; turn++) {
        await quiet();
        scene.clock.advance(500);
      }
      const where = `killed ${when} write ${at}`;
      if (when === "calm") {
        expect(over).toBe(true);
        writes = handle.writes;
        expect(writes).toBeGreaterThan(10);
      }
      const healthy = scene.process([patient], { claim_ms: 3000 });
      await scene.until(healthy.start("patient", null, OPTIONS));
      scene.clock.advance(10 * 60_000);
      const result = await driven(scene, healthy, "r");
      expect({ where, result }).toMatchObject({ where, result: { status: "completed", result: ANSWER } });
      expect({ where, count: scene.server.count }).toEqual({ where, count: 4 });
      const { used, reserved } = await scene.used("r");
      expect({ where, used, reserved }).toMatchObject({
        where,
        used: { cost_usd: 4 * COST_NANO, steps: 4 },
        reserved: {},
      });
      await scene.links("r");
    }
  }
});
