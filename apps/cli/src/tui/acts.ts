import { ApprovalError, type ApproveOptions, type Bursar, type Principal, type RunRecord } from "bursar";
import { findRequest } from "../app/store/find-run.js";
import { rootOf } from "../app/store/run-root.js";
import { standingOf } from "../render/run.js";
import { runFigures } from "../render/run-figures.js";
import { Background } from "./background.js";
import type { Note, Wish } from "./state.js";

/** What came of a wish. */
export type Outcome =
  | { readonly kind: "done"; readonly note: Note }
  /** Nothing was done, and nothing more can be: somebody else was faster, or it was too late. */
  | { readonly kind: "over"; readonly note: Note }
  /** Nothing was done, and something else can be tried. */
  | { readonly kind: "refused"; readonly note: Note }
  /** Nothing was done yet: it takes a further yes. */
  | { readonly kind: "doubtful"; readonly question: string };

const OVER: ReadonlySet<string> = new Set(["decided", "expired", "no_such_approval"]);

type Decide = Extract<Wish, { kind: "decide" }>;

/** So many runs are driven from here at the same time; the others wait for their turn. */
const MOST_DRIVEN = 4;
const MOST_REMEMBERED = 50;

/** Decides, and drives on what was decided about, in the background. */
export class Acts implements AsyncDisposable {
  private readonly bursar: Bursar;
  private readonly by: Principal;
  private readonly told: (note: Note | null) => void;
  private readonly background: Background;
  private readonly remembered: Note[] = [];
  private closed = false;

  constructor(bursar: Bursar, by: Principal, told: (note: Note | null) => void) {
    this.bursar = bursar;
    this.by = by;
    this.told = told;
    this.background = new Background(MOST_DRIVEN, () => told(null));
  }

  /** The runs that are driven from here, or wait for it. */
  get driven(): readonly string[] {
    return this.background.names;
  }

  /** What has happened here, for whoever has left the screen. */
  get notes(): readonly Note[] {
    return this.remembered;
  }

  async decide(wish: Decide): Promise<Outcome> {
    const { request: id, answer, extensions, reason, anyway } = wish;
    const options: ApproveOptions = { by: this.by, reason, ...(extensions !== null && { extensions }) };
    return this.carriedOut(async () => {
      const request = await findRequest(this.bursar.store, id);
      const run = request.run === null ? null : await this.rootFor(request.run);
      // Whoever only ends a run need not know its program.
      const goesOn = answer === "approve" || request.kind !== "budget_extension";
      const lacking = run === null || !goesOn ? null : await this.lackingFor(request.run ?? run.id);
      if (lacking !== null && !anyway) {
        return {
          kind: "doubtful",
          question: `only a worker can drive it on; ${answer} all the same (y or n)? ${lacking}`,
        };
      }
      const { decision } = await this.bursar.decide(id, answer, options);
      if (run !== null && lacking === null && request.kind !== "server_discovery") this.drive(run.id);
      const granted = runFigures(decision?.extension ?? {});
      const what = answer === "approve" ? "✓ approved" : "✗ denied";
      const subject = request.run === null ? `budget ${request.budget}` : `run ${request.run}`;
      return this.done(`${what}: ${subject}${granted === "" ? "" : `, ${granted} more`}`, "good");
    });
  }

  /** Lets a run go on. What was asked for and has expired is asked for anew. */
  async resume(id: string): Promise<Outcome> {
    return this.carriedOut(async () => {
      const run = await this.rootFor(id);
      const lacking = await this.lackingFor(run.id);
      if (lacking !== null) return { kind: "refused", note: { text: lacking, tone: "bad" } };
      this.drive(run.id, () => this.bursar.resume(run.id, this.by));
      return this.done(`run ${run.id} is resumed`, "good");
    });
  }

  async cancel(id: string): Promise<Outcome> {
    return this.carriedOut(async () => {
      this.drive(id, () => this.bursar.cancel(id, this.by));
      return this.done(`run ${id} is being cancelled`, "warn");
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    this.background.close();
    await this.bursar[Symbol.asyncDispose]();
  }

  private async rootFor(id: string): Promise<RunRecord> {
    return rootOf(this.bursar.store, await this.bursar.find(id));
  }

  /** What this process would need in order to drive a run on; null when it has it all. */
  private async lackingFor(id: string): Promise<string | null> {
    const missing = await this.bursar.missingFor(id);
    return missing.length === 0 ? null : missing.join("; ");
  }

  /** Whatever fails is told on the screen, which goes on. */
  private async carriedOut(work: () => Promise<Outcome>): Promise<Outcome> {
    try {
      return await work();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const isOver = error instanceof ApprovalError && OVER.has(error.code);
      return { kind: isOver ? "over" : "refused", note: { text, tone: "bad" } };
    }
  }

  private done(text: string, tone: Note["tone"]): Outcome {
    const note: Note = { text, tone };
    this.remember(note);
    return { kind: "done", note };
  }

  private remember(note: Note): void {
    this.remembered.push(note);
    if (this.remembered.length > MOST_REMEMBERED) this.remembered.shift();
  }

  private drive(id: string, work: () => Promise<unknown> = () => this.bursar.drive(id)): void {
    this.background.add(id, async () => {
      try {
        await work();
        const standing = standingOf(await this.bursar.find(id));
        this.tell({ text: `run ${id} is ${standing}`, tone: standing === "completed" ? "good" : "warn" });
      } catch (error) {
        const text = `run ${id}: ${error instanceof Error ? error.message : String(error)}`;
        // Whoever has left lets go of his runs on purpose.
        if (!this.closed) this.tell({ text, tone: "bad" });
      }
    });
  }

  private tell(note: Note): void {
    this.remember(note);
    this.told(note);
  }
}
