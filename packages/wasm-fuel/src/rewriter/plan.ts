import type { Profile } from "../profile.js";
import { Calls } from "./calls.js";
import { findCircles } from "./cut.js";
import type { Body, Graph } from "./graph.js";
import { Potentials } from "./potentials.js";
import { findRegions, type Regions } from "./regions.js";
import { Weights } from "./weights.js";

/** What makes metering fast. None of it changes a total; each can be switched off to show that. */
export interface Optimisations {
  /** Charge on few edges instead of on all. */
  readonly potentials: boolean;
  /** Let callers pay for entering a function that only they can reach. */
  readonly fold: boolean;
  /** Count in a local variable within loops that call nothing. */
  readonly regions: boolean;
  /** Look at the fuel only on entry to functions that break circles of calls, instead of all functions. */
  readonly cut: boolean;
  /** Tell the engine which branches are hardly ever taken. */
  readonly hints: boolean;
}

/** Where a module is charged and checked. */
export interface Plan {
  readonly graph: Graph;
  readonly bodies: readonly Body[];
  readonly regions: Regions;
  readonly potentials: Potentials;
  /** 1 for functions whose entry is charged to their callers. */
  readonly isFolded: Uint8Array;
  /** 1 for functions that look at the fuel when they are entered. */
  readonly isChecked: Uint8Array;
  /** 1 for functions that count the depth of calls. */
  readonly isCut: Uint8Array;
}

/** A function that could execute more than this without a look at the fuel gets one at its entry. */
const MOST_UNCHECKED = 65_536;

/** More is not moved to callers: in a chain of functions that each call the next one twice it would double with every step. */
const MOST_FOLDED = 2 ** 20;

export function makePlan(
  graph: Graph,
  bodies: readonly Body[],
  isRoot: (index: number) => boolean,
  on: Optimisations,
  profile: Profile | null,
): Plan {
  const calls = new Calls(graph, bodies);
  const { order, isRecursive, isCut } = findCircles(calls, bodies);
  const regions = findRegions(graph, bodies, on.regions);
  const [potentials, weights] = [new Potentials(graph), new Weights(graph, regions, profile)];
  const [isFolded, isChecked] = [new Uint8Array(bodies.length), new Uint8Array(bodies.length)];
  const [moved, unchecked] = [new Float64Array(bodies.length), new Float64Array(bodies.length)];
  for (const index of order) {
    const body = bodies[index] as Body;
    for (let node = body.firstNode; node < body.nodeEnd; node += 1) {
      unchecked[index] = (unchecked[index] as number) + graph.cost.get(node);
    }
    for (let call = body.firstCall; call < body.callEnd; call += 1) {
      const [node, callee] = [graph.caller.get(call), graph.callee.get(call)];
      graph.cost.set(node, graph.cost.get(node) + (moved[callee] as number));
      if (isChecked[callee] === 0) unchecked[index] = (unchecked[index] as number) + (unchecked[callee] as number);
    }
    if (!on.cut || isCut[index] === 1 || (unchecked[index] as number) > MOST_UNCHECKED) isChecked[index] = 1;
    if (!on.potentials) continue;
    const canFold = on.fold && isRecursive[index] === 0 && !isRoot(index);
    weights.sort(body, canFold, isChecked[index] === 1);
    potentials.solve(body, weights);
    const entry = -(potentials.of[body.firstNode + 1] as number);
    if (!canFold || Math.abs(entry) > MOST_FOLDED) continue;
    isFolded[index] = 1;
    moved[index] = entry;
  }
  return { graph, bodies, regions, potentials, isFolded, isChecked, isCut };
}
