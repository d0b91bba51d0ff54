import { type GuestSource, guestProgram, type Model, openBursar, type Program, type Sandbox, type Store } from "bursar";

export type Language = GuestSource["language"];

/** Programs that ask the model again and again, for as long as they are let. */
const CODE: Readonly<Record<Language, string>> = {
  python: 'while True:\n    await host.llm({"prompt": "go on"})\n',
  javascript: 'for (;;) await host.llm({ prompt: "go on" });\n',
};
const MEMORY_BYTES = 64 * 1024 * 1024;
/** It takes no time, so that all the time is ours. */
const MODEL: Model = {
  quote: () => ({ llm_input_tokens: 100, llm_output_tokens: 100 }),
  call: async () => ({ value: "yes", usage: { input_tokens: 100, output_tokens: 10 } }),
};
const ANN = { name: "ann", role: "operator" } as const;

/** Runs in the sandbox that stand still at a limit of their steps, and go on when somebody says yes. */
export class PausedGuests {
  private readonly bursar: ReturnType<typeof openBursar>;
  private readonly programs: Readonly<Record<Language, Program>>;
  private count = 0;

  constructor(store: Store, sandbox: Sandbox) {
    const program = (language: Language) => {
      const source = { language, code: CODE[language], packages: [], memory_bytes: MEMORY_BYTES };
      return guestProgram(language, source, async () => sandbox);
    };
    this.programs = { python: program("python"), javascript: program("javascript") };
    this.bursar = openBursar({ store, model: MODEL, programs: Object.values(this.programs) });
  }

  /** A run that stands still after so many steps. */
  async pausedAfter(language: Language, steps: number): Promise<string> {
    const id = `${language}-${this.count++}`;
    const limits = { steps, llm_tokens: null, fuel: null, wall_clock_ms: null };
    const policies = { steps: "approval_required" } as const;
    expectPaused(await this.bursar.run(this.programs[language], null, { id, limits, policies }));
    return id;
  }

  /** Says yes to one step more: the run goes on, takes it, and stands still again. */
  async goOn(id: string): Promise<void> {
    expectPaused(await this.bursar.approve(`${id}/checkpoint`, { by: ANN, extensions: { steps: 1 } }));
  }
}

function expectPaused(result: { readonly status: string }): void {
  if (result.status !== "paused") throw new Error(`the run is not paused: ${JSON.stringify(result)}`);
}
