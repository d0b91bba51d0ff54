import { type Bursar, type BursarOptions, execHandler, openBursar } from "bursar";
import { type Configuration, governingTerms } from "bursar/config";
import { keepSites, tieredModel } from "bursar/models";
import type { Environment } from "../environment.js";
import { type Equipment, reviver } from "../equipment/equipment.js";
import { batchesOf, foresightOf } from "../equipment/foresight.js";
import { checkWebhook, type Place } from "../store/opened-store.js";

/** Opens what drives runs in this process. */
export async function bursarAt(
  place: Place,
  equipment: Equipment,
  { env }: { readonly env: Environment },
  more: Pick<BursarOptions, "claim_ms" | "changed" | "foresight" | "printed"> & {
    /** The policy of the configuration that runs get here, in place of their own. */
    readonly policy?: string | undefined;
  } = {},
): Promise<Bursar> {
  const { store, config } = place;
  const { programs, tools, model, sandbox } = equipment;
  const { policy, ...rest } = more;
  checkWebhook(config, env);
  const { tiers } = config.foresight;
  const batches = await batchesOf(place, equipment, env);
  // What model calls have taught is written down now and then, and at last.
  place.beforeClosing(() => keepSites(store));
  return openBursar({
    store,
    programs,
    tools,
    revive: reviver(equipment),
    governance: governanceOf(config, policy),
    foresight: foresightOf(place, equipment),
    ...rest,
    handlers: { exec: execHandler(sandbox.open) },
    ...(model !== null && { model: tiers === null ? model : tieredModel(model, tiers) }),
    ...(batches !== null && { batches }),
  });
}

/** What the configuration gives to the runs of a program: whoever is no operator may only tighten it. */
function governanceOf(config: Configuration, policy: string | undefined): NonNullable<BursarOptions["governance"]> {
  return (agent) => governingTerms(config, { agent, policy });
}
