import { type Json, type JsonObject, type Link, readAmount, STANDARD, writeAmount } from "bursar";
import type { Moment, Refused, Summary, Tell } from "./moment.js";
import { RUN } from "./script.js";

/** Counts what is told on its way to whoever shows it. */
export class Tally {
  readonly tell: Tell;
  private made = 0;
  private consumption: JsonObject = {};
  private readonly refused: Refused[] = [];
  private readonly waited: string[] = [];

  constructor(tell: Tell) {
    this.tell = async (moment) => {
      this.count(moment);
      await tell(moment);
    };
  }

  /** The summary of what was told, with what the caller has found out about it. */
  summary(found: Pick<Summary, "status" | "within_limits" | "chain">): Summary {
    const { refused, waited, consumption } = this;
    return { kind: "summary", simulated: true, ...found, calls_made: this.made, refused, waited, consumption };
  }

  private count(moment: Moment): void {
    if (moment.kind === "waiting") this.waited.push(moment.step_id);
    if (moment.kind !== "link") return;
    const { event, action_type, data } = moment.link;
    if (event === "Consumption") this.made++;
    if (event === "RunCompleted" && data.run_id === RUN) this.consumption = objectOf(data.final_consumption);
    if (action_type === "StepRefused") this.refused.push(refusalIn(moment.link));
  }
}

/** The finding that a refused step was refused for, in edge units. */
export function refusalIn({ data }: Link): Refused {
  const findings = Array.isArray(data.findings) ? data.findings : [];
  const { budget, dimension, policy, asked, used, limit } = objectOf(findings[0]);
  const known = STANDARD.get(String(dimension));
  // Dollars are subtracted in ledger units, because doubles do not add up.
  const ledger = (value: Json | undefined) => readAmount(known, value, "down", known.id);
  const left = writeAmount(known, ledger(limit) - ledger(used));
  return {
    step_id: String(data.step_id),
    decision: String(data.decision),
    budget: String(budget),
    dimension: known.id,
    policy: String(policy),
    asked: Number(asked),
    left,
  };
}

export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
