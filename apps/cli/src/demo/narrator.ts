import type { Json, JsonObject, Link } from "bursar";
import { bareEdgeFigure, edgeFigure, edgeFigures, NAMED, rest } from "../render/figures.js";
import { pad, type Style, wrap } from "../render/style.js";
import type { Moment, Summary } from "./moment.js";
import { objectOf, refusalIn } from "./tally.js";

type Told<Kind extends Moment["kind"]> = Extract<Moment, { kind: Kind }>;

/** Lines stay within this, however wide the terminal is. */
const COLUMNS = 80;
const STEP_COLUMNS = 14;
const CAPABILITY_COLUMNS = 12;
const NAME_COLUMNS = 28;
const MARGIN = " ".repeat(4 + STEP_COLUMNS);

/** How a decision against a call is put into words. */
interface Wording {
  readonly sign: string;
  readonly word: string;
  readonly effect: string;
  readonly paint: "warn" | "bad";
}

const STOPPED: Wording = { sign: "✗", word: "STOPPED", effect: "the run ends", paint: "bad" };

const WORDINGS: Readonly<Record<string, Wording>> = {
  refused: { sign: "✗", word: "REFUSED", effect: "the run goes on", paint: "bad" },
  paused: { sign: "‖", word: "PAUSED", effect: "a person has to decide", paint: "warn" },
};

/** Tells moments in lines of text. It remembers what links refer back to. */
export class Narrator {
  private readonly style: Style;
  /** What an allocation said, by budget. */
  private readonly allocations = new Map<string, JsonObject>();
  /** What a call was admitted with, by step. */
  private readonly asked = new Map<string, JsonObject>();

  constructor(style: Style) {
    this.style = style;
  }

  tell(moment: Moment): readonly string[] {
    switch (moment.kind) {
      case "started":
        return this.started(moment);
      case "promise":
        return this.promise(moment);
      case "link":
        return this.link(moment.link);
      case "waiting":
        return this.waiting(moment);
      case "raced":
        return this.raced(moment);
      case "verified":
        return this.verified(moment);
      case "tampered":
        return this.tampered(moment);
      case "summary":
        return this.summary(moment);
    }
  }

  private started({ question }: Told<"started">): readonly string[] {
    const { bold, warn } = this.style;
    return [
      `${bold("Bursar demo")}: an agent is to "${question}".`,
      `Its calls are ${warn("SIMULATED")}: no key, no network, no bill. Its budget is ${bold("REAL")}.`,
      "",
    ];
  }

  private promise({ number, text }: Told<"promise">): readonly string[] {
    const head = `    ${pad("call", STEP_COLUMNS)}${pad("made by", CAPABILITY_COLUMNS)}held → used`;
    return ["", this.style.bold(`${number}. ${text}`), ...(number === 1 ? [this.style.dim(head)] : [])];
  }

  private link(link: Link): readonly string[] {
    const { data } = link;
    switch (link.event ?? link.action_type) {
      case "Allocation":
        return this.allocation(data);
      case "StepStarted":
        this.asked.set(String(data.step_id), objectOf(data.asked));
        return [];
      case "StepRefused":
        return this.refused(link);
      case "Consumption":
        return this.consumption(data);
      case "Warning":
        return [this.row("!", "warning", notice(data, `has reached ${data.percent} %:`), "warn")];
      case "Exhausted":
        return [this.row("!", "exhausted", notice(data, "stands at"), "warn")];
      case "ApprovalRequested":
        return this.requested(data);
      case "ApprovalDecided":
        return this.decided(data);
      case "Extended":
        return [this.row("+", "extended", `${data.dimension} of ${data.budget} by ${additional(data)}`, "good")];
      case "Denied":
        return [this.row("✗", "cancelled", `${data.dimension} is not extended, so the run ends here`, "bad")];
      case "ChildRunStarted":
        return [this.row("◇", "child shares", `${data.run_id}: what it uses, ${data.budget} has used`, "accent")];
      case "RunCompleted":
        return this.completed(data);
      default:
        return [];
    }
  }

  private allocation(data: JsonObject): readonly string[] {
    const { run_id, parent, funding } = data;
    const limits = objectOf(data.limits);
    this.allocations.set(String(run_id), data);
    if (funding === "held") {
      const opened = this.row("◇", "child opens", `${run_id}: half of what is left is held for it`, "accent");
      return [opened, `${MARGIN}holds ${this.style.accent(rest(limits, {}))}`];
    }
    const depth = this.depthOf(parent);
    const name = `${"  ".repeat(depth)}${depth === 0 ? "" : "└ "}${run_id}`;
    return [`  ${pad(name, NAME_COLUMNS)}${edgeFigures(limits, objectOf(data.policies))}`];
  }

  private consumption(data: JsonObject): readonly string[] {
    const step = String(data.step_id);
    const held = this.asked.get(step) ?? {};
    const used = objectOf(data.resources);
    const figures = ["llm_tokens", "cost_usd"].flatMap((id) => {
      if (used[id] === undefined) return [];
      return [`${bareEdgeFigure(id, held[id] ?? 0)} → ${edgeFigure(id, used[id])}`];
    });
    const [tokens = "", cost = ""] = figures.length === 1 ? ["", ...figures] : figures;
    const capability = this.style.dim(pad(String(data.capability_id), CAPABILITY_COLUMNS));
    return [this.row("✓", step, `${capability}${pad(tokens, 24)}${cost}`, "good")];
  }

  private refused(link: Link): readonly string[] {
    const { step_id, decision, dimension, asked, left, budget, policy } = refusalIn(link);
    const { sign, word, effect, paint } = WORDINGS[decision] ?? STOPPED;
    const figures = `asked ${edgeFigure(dimension, asked)}, left ${edgeFigure(dimension, left)} (${dimension})`;
    return [
      this.row(sign, step_id, `${this.style[paint](word)} before it was made; ${effect}`, paint),
      `${MARGIN}${figures}`,
      this.style.dim(`${MARGIN}budget ${budget}, policy ${policy}`),
    ];
  }

  private requested(data: JsonObject): readonly string[] {
    const dimension = String(data.exhausted_dimension);
    const consumed = objectOf(data.consumed);
    const limits = objectOf(data.limits);
    const share = (id: string) => `${bareEdgeFigure(id, consumed[id])} of ${edgeFigure(id, limits[id])}`;
    const others = NAMED.filter((id) => id !== dimension && consumed[id] !== undefined);
    const field = (name: string, value: string) => `  ${this.style.warn("│")} ${pad(name, STEP_COLUMNS)}${value}`;
    return [
      `  ${this.style.warn("┌ approval request")}`,
      field("dimension", dimension),
      field("consumption", share(dimension)),
      field("besides", others.map(share).join(", ")),
      field("suggested", `+ ${edgeFigures(objectOf(data.suggested_extension))} (50 % of the limit)`),
      `  ${this.style.warn("└")} ${this.style.dim("the run's clock stands still while it waits")}`,
    ];
  }

  private decided({ decision, by, reason }: JsonObject): readonly string[] {
    const approved = decision === "approve";
    const word = approved ? "approved" : "denied";
    return [this.row(approved ? "✓" : "✗", word, `by ${by}: ${reason}`, approved ? "good" : "bad")];
  }

  private completed(data: JsonObject): readonly string[] {
    const allocation = this.allocations.get(String(data.run_id));
    if (allocation?.funding !== "held") return [];
    const returned = rest(objectOf(allocation.limits), objectOf(data.final_consumption));
    return [
      this.row("◇", "child ends", String(data.run_id), "accent"),
      `${MARGIN}returns ${this.style.good(returned)}`,
    ];
  }

  private waiting({ step_id, dimension, asked, left, held }: Told<"waiting">): readonly string[] {
    const figures = `asks ${edgeFigure(dimension, asked)}, free ${edgeFigure(dimension, left)}`;
    return [this.row("…", step_id, `waits: ${figures}, ${edgeFigure(dimension, held)} held in flight`, "accent")];
  }

  private raced({ calls, passed, dimension, asked, left, spent }: Told<"raced">): readonly string[] {
    const figures = [asked, left, spent].map((value) => edgeFigure(dimension, value));
    const text = `${calls} calls asked for ${figures[0]}, ${figures[1]} was left: ${passed} passed, ${figures[2]} spent`;
    return [this.style.bold(`  = ${text}`)];
  }

  private verified({ verification }: Told<"verified">): readonly string[] {
    if (!verification.ok) return this.long("✗", "not verified", verification.message, "bad");
    const { links, head } = verification;
    return [this.row("✓", "verified", `${links} links, head:`, "good"), `    ${this.style.dim(head.hash)}`];
  }

  private tampered({ forged, verification }: Told<"tampered">): readonly string[] {
    const { dimension, from, to, step_id, seq } = forged;
    const change = `link ${seq} of a copy: "${step_id}" cost ${edgeFigure(dimension, from)}, now ${edgeFigure(dimension, to)}`;
    const caught = verification.ok
      ? this.long("✗", "undetected", "the copy verifies, which it must not", "bad")
      : this.long("✓", "detected", verification.message, "good");
    return [this.row("✎", "tampered", change, "warn"), ...caught];
  }

  private summary({ status, calls_made, refused, within_limits }: Summary): readonly string[] {
    const { bold, good, bad } = this.style;
    const paint = status === "Completed" ? good : bad;
    const limits = within_limits ? "no limit passed" : "a limit was passed";
    const stopped = refused.length === 1 ? "1 was" : `${refused.length} were`;
    return ["", `${bold(paint(status))}: ${calls_made} simulated calls made, ${stopped} held back, ${limits}.`];
  }

  private row(sign: string, name: string, text: string, paint: "good" | "warn" | "bad" | "accent"): string {
    return `  ${this.style[paint](sign)} ${pad(name, STEP_COLUMNS)}${text}`;
  }

  private long(sign: string, name: string, text: string, paint: "good" | "bad"): readonly string[] {
    const [first = "", ...more] = wrap(text, COLUMNS - MARGIN.length);
    return [this.row(sign, name, first, paint), ...more.map((line) => `${MARGIN}${line}`)];
  }

  private depthOf(parent: Json | undefined): number {
    let depth = 0;
    for (let at = parent; typeof at === "string" && depth < 8; at = this.allocations.get(at)?.parent) depth++;
    return depth;
  }
}

function notice({ budget, dimension, consumed, limit }: JsonObject, what: string): string {
  const id = String(dimension);
  return `${dimension} of ${budget} ${what} ${bareEdgeFigure(id, consumed)} of ${bareEdgeFigure(id, limit)}`;
}

function additional({ dimension, additional }: JsonObject): string {
  return edgeFigure(String(dimension), additional);
}
