import type { Configuration } from "./configuration.js";
import { EMPTY_LAYER, type Layer, laidOver } from "./layer.js";

/** Which run a configuration is asked about. */
export interface RunQuestion {
  /** The policy that whoever starts the run names; undefined for none. */
  readonly policy?: string | undefined;
  readonly agent?: string | undefined;
  /** A child gets a policy only when one is named, or its agent has one. */
  readonly isChild: boolean;
}

/** The policy a run gets when none is named. */
export function usualPolicy(config: Configuration, { agent, isChild }: RunQuestion): string | null {
  const own = config.agents.get(agent ?? "")?.policy?.value;
  return own ?? (isChild ? null : config.defaultPolicy.value);
}

/** What the file that has the last word says of a run; null when it does not know the policy. */
export function layerOf(config: Configuration, question: RunQuestion): Layer | null {
  const name = question.policy ?? usualPolicy(config, question);
  const policy = name === null ? EMPTY_LAYER : config.policies.get(name)?.layer;
  const agent = config.agents.get(question.agent ?? "")?.layer ?? EMPTY_LAYER;
  return policy === undefined ? null : laidOver(agent, policy);
}

/** What the files of working folders say of the same run. A shipped policy that such a file does not choose is not its word. */
export function tighteningLayers({ tightenedBy }: Configuration, question: RunQuestion): readonly Layer[] {
  return tightenedBy.map((folder) => {
    const named = question.policy === undefined ? undefined : folder.policies.get(question.policy);
    const isSaid = question.policy === undefined || named?.origin.kind === "policy";
    if (isSaid) return layerOf(folder, question) ?? EMPTY_LAYER;
    return folder.agents.get(question.agent ?? "")?.layer ?? EMPTY_LAYER;
  });
}
