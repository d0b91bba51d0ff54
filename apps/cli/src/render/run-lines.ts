import { type Json, type JsonObject, type Link, runOfCheckpoint } from "bursar";
import { foresightText } from "./event-text.js";
import { objectOf } from "./object.js";
import { runFigure, runFigures, runShare } from "./run-figures.js";
import { clip, harmless, pad, type Style, wrap } from "./style.js";

const NUMBER_COLUMNS = 5;
const LONGEST_LINE = 70;
const NAME_COLUMNS = 22;

type Paint = "good" | "warn" | "bad" | "accent";

/** How a call went that was paid for. */
const GOOD = ["✓", "good"] as const;
const BAD = ["✗", "bad"] as const;
const UNKNOWN = ["?", "warn"] as const;

/** What a decision against a call is called. */
const REFUSALS: Readonly<Record<string, string>> = {
  paused: "not made; the run pauses",
  stopped: "not made; the run is stopped",
  refused: "refused; the run goes on",
};

/** Tells the links of a run's chain in lines of text, each once. It remembers which calls are in flight. */
export class RunNarrator {
  private readonly style: Style;
  private readonly flying = new Map<string, string>();
  private readonly denied = new Set<string>();

  constructor(style: Style) {
    this.style = style;
  }

  /** The capabilities that are in use at present. */
  get inFlight(): readonly string[] {
    return [...this.flying.values()];
  }

  /** `problem` is what the program was told of a call that was paid for, but failed; null where it was told nothing. */
  tell(link: Link, problem?: string | null): readonly string[] {
    const { data } = link;
    this.follow(link);
    switch (link.event ?? link.action_type) {
      case "RunClaimed":
        return data.epoch === 1 || this.isDenied(data)
          ? []
          : [this.row("↻", "", `taken up again by ${short(data.worker)}`, "accent")];
      case "Consumption":
        return this.consumption(data, problem);
      case "StepRefused":
        return this.refused(data);
      case "StepReleased":
        return this.released(data);
      case "Warning":
        return [this.row("!", "", `${dimensionOf(data)} has reached ${data.percent} %: ${share(data)}`, "warn")];
      case "Exhausted":
        return [this.row("!", "", exhaustedText(data), "warn")];
      case "Extended":
        return [this.row("+", "", `${dimensionOf(data)} extended by ${amountIn(data)}${by(data.approved_by)}`, "good")];
      case "ApprovalDecided":
        return this.decided(data);
      case "RunPaused":
        return [
          this.row(
            "‖",
            "",
            `paused${data.exhausted_dimension === null ? "" : `: ${data.exhausted_dimension}`}`,
            "warn",
          ),
        ];
      case "RunResumed":
        return this.isDenied(data) ? [] : [this.row("▶", "", "resumed", "accent")];
      default:
        return this.foreseen(link);
    }
  }

  /** What was expected, and what was done to spend less. */
  private foreseen(link: Link): readonly string[] {
    const text = foresightText(link);
    if (text === null) return [];
    const [first = "", ...more] = wrap(text, LONGEST_LINE);
    const rest = more.map((line) => `  ${" ".repeat(2 + NUMBER_COLUMNS)}${line}`);
    return [this.row(link.action_type === "Saved" ? "+" : "≈", "", first, "accent"), ...rest];
  }

  /** Whether a run goes on only to its end, because it gets no more budget. */
  private isDenied({ run_id }: JsonObject): boolean {
    return this.denied.has(String(run_id));
  }

  private follow({ action_type, event, data }: Link): void {
    if (event === "Denied") this.denied.add(runOfCheckpoint(String(data.checkpoint_id)) ?? "");
    const step = String(data.step_id);
    if (action_type === "StepStarted") this.flying.set(step, short(data.capability_id));
    else if (event === "Consumption" || action_type === "StepReleased") this.flying.delete(step);
  }

  private consumption(data: JsonObject, problem: string | null | undefined): readonly string[] {
    // What a guest itself burns is charged all the time, and shown by the bars.
    if (data.capability_id === "sandbox") return [];
    const used = runFigures(objectOf(data.resources), ["steps", "llm_input_tokens", "llm_output_tokens"]);
    const { duration_ms } = objectOf(data.metadata);
    const took = typeof duration_ms === "number" ? this.style.dim(`  ${(duration_ms / 1000).toFixed(1)} s`) : "";
    const corrected = data.corrects === undefined ? "" : "corrected: ";
    const [sign, paint] = problem === undefined ? GOOD : problem === null ? UNKNOWN : BAD;
    const line = this.row(sign, numberOf(data), `${nameOf(data)}${corrected}${used}${took}`, paint);
    if (problem === undefined) return [line];
    const why = clip(harmless(problem ?? "whether it has worked is not known"), LONGEST_LINE);
    return [line, this.style.dim(`  ${" ".repeat(2 + NUMBER_COLUMNS)}${why}`)];
  }

  private released(data: JsonObject): readonly string[] {
    // What was held for a guest and not burnt is no call of the program's.
    if (data.capability_id === "sandbox") return [];
    return [this.row("·", numberOf(data), `${nameOf(data)}${String(data.why)}; nothing is charged`, "accent")];
  }

  private refused(data: JsonObject): readonly string[] {
    // A clock that has run out is no call of the program's; that it is exhausted is told anyway.
    if (numberOf(data) === "") return [];
    const decision = String(data.decision);
    const paint = decision === "paused" ? "warn" : "bad";
    const [finding] = Array.isArray(data.findings) ? data.findings.map(objectOf) : [];
    const lines = [this.row("✗", numberOf(data), `${nameOf(data)}${REFUSALS[decision] ?? decision}`, paint)];
    if (finding === undefined) return lines;
    const id = String(finding.dimension);
    const left = numeric(finding.limit) - numeric(finding.used) - numeric(finding.reserved);
    const figures = `asks ${runFigure(id, finding.asked)}, ${runFigure(id, Math.max(0, left))} left (${harmless(id)})`;
    return [...lines, this.style.dim(`  ${" ".repeat(2 + NUMBER_COLUMNS)}${figures}`)];
  }

  private decided(data: JsonObject): readonly string[] {
    const approved = data.status === "approved";
    const reason = data.reason === null ? "" : `: ${short(data.reason)}`;
    const text = `${approved ? "approved" : "denied"}${by(data.by)}${reason}`;
    return [this.row(approved ? "✓" : "✗", "", text, approved ? "good" : "bad")];
  }

  private row(sign: string, name: string, text: string, paint: Paint): string {
    return `  ${this.style[paint](sign)} ${pad(name, NUMBER_COLUMNS)}${text}`;
  }
}

/** A step is named after its run; within the run its number is enough. */
function numberOf({ step_id }: JsonObject): string {
  const [, number = ""] = /\/(\d+)$/.exec(String(step_id)) ?? [];
  return number === "" ? "" : `#${number}`;
}

function nameOf({ capability_id }: JsonObject): string {
  const name = clip(harmless(String(capability_id)), NAME_COLUMNS - 1);
  return pad(name, NAME_COLUMNS);
}

function dimensionOf({ dimension }: JsonObject): string {
  return harmless(String(dimension));
}

function amountIn({ dimension, additional }: JsonObject): string {
  return runFigure(String(dimension), additional);
}

function exhaustedText(data: JsonObject): string {
  if (data.dimension === "deadline") return `the deadline has passed, ${instantText(data.limit)}`;
  return `${dimensionOf(data)} is exhausted: ${share(data)}`;
}

/** An instant as people read it everywhere: 2027-01-31T12:00:00Z. */
function instantText(value: Json | undefined): string {
  const date = new Date(numeric(value));
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().replace(/\.\d+Z$/, "Z");
}

function share({ dimension, consumed, limit }: JsonObject): string {
  return runShare(String(dimension), consumed, limit);
}

function by(name: Json | undefined): string {
  return name === undefined || name === null ? "" : ` by ${short(name)}`;
}

const LONGEST = 60;

function short(value: Json | undefined): string {
  return clip(harmless(String(value)), LONGEST);
}

function numeric(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}
