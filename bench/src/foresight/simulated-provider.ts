/** A provider in a time of its own: an answer takes as long as it has tokens, and nothing else takes any. */
export class SimulatedProvider {
  /** In milliseconds. */
  now = 0;
  /** How many answers ended because the request allowed no more. */
  cut = 0;
  answered = 0;
  mostInFlight = 0;
  /** The sum of how many answers were under way, weighted by time. */
  private busy_ms = 0;
  private readonly lengths: () => number;
  private readonly flying: Flight[] = [];

  /** `lengths` tells how long the next answer would be if nothing limited it. */
  constructor(lengths: () => number) {
    this.lengths = lengths;
  }

  readonly fetch: typeof fetch = (_, init) =>
    new Promise((resolve) => {
      const { max_tokens } = JSON.parse(String(init?.body)) as { readonly max_tokens: number };
      const whole = this.lengths();
      const tokens = Math.min(whole, max_tokens);
      if (whole > max_tokens) this.cut++;
      this.flying.push({ ends: this.now + tokens * MS_PER_TOKEN, land: () => resolve(answerOf(tokens)) });
      this.mostInFlight = Math.max(this.mostInFlight, this.flying.length);
    });

  /** Lets time pass until the work is done: whenever nobody has anything else to do, the next answer comes. */
  async until(work: Promise<unknown>): Promise<void> {
    let over = false;
    const end = () => {
      over = true;
    };
    work.then(end, end);
    while (!over) {
      await quiet();
      if (over || this.flying.length === 0) continue;
      this.flying.sort((a, b) => a.ends - b.ends);
      const next = this.flying[0] as Flight;
      this.busy_ms += this.flying.length * (next.ends - this.now);
      this.now = next.ends;
      this.flying.shift();
      this.answered++;
      next.land();
    }
    await work;
  }

  get meanInFlight(): number {
    return this.busy_ms / this.now;
  }
}

interface Flight {
  readonly ends: number;
  readonly land: () => void;
}

const MS_PER_TOKEN = 10;
/** So many turns of the event loop are more than whoever waits for a hold needs to try again. */
const TURNS = 6;

async function quiet(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function answerOf(completion_tokens: number): Response {
  const usage = { prompt_tokens: 20, completion_tokens, total_tokens: 20 + completion_tokens };
  const message = { role: "assistant", content: "Yes." };
  const body = {
    id: "x",
    object: "chat.completion",
    created: 0,
    model: "gpt-4o",
    usage,
    choices: [{ index: 0, message }],
  };
  return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
}
