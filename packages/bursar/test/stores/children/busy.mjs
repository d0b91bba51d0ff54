// Makes calls as fast as it can until it is ended.
import { openStore, readAmounts } from "bursar";

const store = await openStore(process.argv[2]);
const limits = readAmounts({ cost_usd: 1_000_000 });
const asked = readAmounts({ cost_usd: 0.01 });
await store.apply([
  { op: "open", parent: null, opening: { id: "busy", scope: "shared", grant: { kind: "limits", limits } } },
]);
for (let round = 0; ; round++) {
  const calls = Array.from({ length: 20 }, async (_, at) => {
    const call = `${round}/${at}`;
    await store.apply([{ op: "reserve", budget: "busy", call, kind: "model", asked }]);
    if (at % 7 !== 0) await store.apply([{ op: "commit", call, used: asked }]);
  });
  await Promise.all(calls);
  if (round === 5) process.send("busy");
}
