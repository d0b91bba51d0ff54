import type { Amount, Amounts } from "../../core/amount.js";
import { readAmount } from "../../core/dimension.js";
import type { Dimensions } from "../../core/dimensions.js";
import type { Plan } from "../plan.js";
import { bodyOf } from "../plan-body.js";
import { deeper, type Foreseen } from "./foreseen.js";
import { Scene } from "./scene.js";
import { Unforeseeable } from "./unforeseeable.js";
import { readable, type Value } from "./value.js";
import type { Walk } from "./walk.js";

/** What a nested run takes, with the call that starts it. */
export function childForeseen(walk: Walk, index: number, input: Value): Foreseen {
  const { place, sums } = walk;
  const child = place.plan.children[index] as Plan;
  const name = place.childName(place.name, child, index);
  walk.place = { ...place, plan: child, name };
  try {
    const inside = knownBetter(walk, name, input, planForeseen(walk, input));
    const capped = sums.capped(inside, limitsOf(child, walk.questions.dimensions));
    return sums.plus(sums.exactly({ steps: 1, subcalls: 1, "child runs": 1 }), deeper(capped));
  } finally {
    walk.place = place;
  }
}

/** What the plan takes that is being looked through. */
export function planForeseen(walk: Walk, input: Value): Foreseen {
  const { plan } = walk.place;
  const body = bodyOf(plan);
  if (body === null) return walk.sums.everything("what the plan does is not known");
  const scene = new Scene();
  scene.bind(body.input, input);
  try {
    return walk.apart(() => walk.evaluate(body.expression, scene)).foreseen;
  } catch (error) {
    if (error instanceof Unforeseeable) return walk.sums.everything(error.message);
    throw error;
  }
}

/** Others may know what cannot be read off the program: what it has taken before. */
function knownBetter(walk: Walk, name: string, input: Value, inside: Foreseen): Foreseen {
  if (inside.open.size === 0) return inside;
  const written = readable(input, null, walk.spend);
  if (written === null || !written.isWhole) return inside;
  const opinion = walk.questions.program(name, written.json);
  return opinion === null ? inside : walk.sums.filled(inside, opinion.dimensions);
}

/** The limits that end a child; one that only warns ends nothing. */
function limitsOf({ budget }: Plan, dimensions: Dimensions): Amounts {
  const limits: Record<string, Amount> = {};
  if (budget === null || budget.grant.kind !== "given") return limits;
  for (const [id, limit] of Object.entries(budget.limits)) {
    if (limit === null || budget.policies[id] === "soft_warn" || !dimensions.has(id)) continue;
    limits[id] = readAmount(dimensions.get(id), limit, "down", id);
  }
  return limits;
}
