import { resolve } from "node:path";
import type { Configuration } from "bursar/config";
import type { Environment } from "../app/environment.js";
import type { EquipmentOptions } from "../app/equipment/equipment.js";
import { allowedBy } from "./allowed-members.js";
import { deploymentsOf, FLAG_REMEDIES } from "./deployments.js";
import { modelFlags, modelOf, pricesOf } from "./model-flags.js";
import { type EQUIPMENT, type Given, listOf } from "./run-flags.js";

interface Surroundings {
  readonly env: Environment;
  readonly config: Configuration;
  /** Whether a gateway beside it also takes the prices that name a model. */
  readonly hasGateway?: boolean;
}

/** What flags, environment and configuration say of the programs, tools and models of a process. */
export function equipmentOptions(flags: Given, { env, config, hasGateway = false }: Surroundings): EquipmentOptions {
  const batched = config.foresight.batches?.model ?? null;
  return {
    modules: listOf(flags, "module"),
    programs: listOf(flags, "program"),
    prices: pricesOf(flags, env, batched),
    deployments: deploymentsOf(flags, config),
    allow: allowedBy(flags, config),
    remedies: FLAG_REMEDIES,
    model: modelOf(flags, env, { batched, hasGateway }),
    flags: [...fileFlags(flags, "module"), ...fileFlags(flags, "program"), ...modelFlags(flags)],
  };
}

/** Files are named from the root, because the process that goes on may stand elsewhere. */
function fileFlags(flags: Given, name: keyof typeof EQUIPMENT): readonly string[] {
  return listOf(flags, name).flatMap((file) => [`--${name}`, resolve(file)]);
}
