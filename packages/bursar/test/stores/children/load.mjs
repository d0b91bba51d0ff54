// Drives one store or several with everything a run does, from several callers each, and says what it tries and what was
// acknowledged. It is killed in the middle, or ends by itself after so many lists per caller.
import { errand, faultOf, openStore, randomOf, say } from "./common.mjs";

const DOLLAR = 1_000_000_000;
const FAR_MS = 3_600_000;

/** One caller of one store: it knows its own budgets, calls and documents, and shares the rest with everybody. */
class Caller {
  constructor(store, place, { name, seed }) {
    this.store = store;
    this.place = place;
    this.name = name;
    this.random = randomOf(seed);
    this.count = 0;
    this.holds = [];
    this.runs = [];
    this.version = 0;
  }

  async work(lists) {
    for (let made = 0; made < lists; made++) await this.send(this.next());
  }

  /** Tells what is tried, then what came of it. */
  async send({ operations, then = () => {} }, again = false) {
    const n = `${this.name}/${this.count++}`;
    say({ place: this.place, n, tries: operations, again });
    try {
      const outcomes = await this.store.apply(operations);
      say({ place: this.place, n, outcomes: outcomes.map(brief) });
      then(outcomes);
    } catch (error) {
      say({ place: this.place, n, fault: faultOf(error) });
    }
  }

  next() {
    const at = this.random();
    if (at < 0.28) return this.reserve();
    if (at < 0.48) return this.settle();
    if (at < 0.62) return { operations: [this.charge()] };
    if (at < 0.67) return { operations: [this.extend()] };
    if (at < 0.73) return this.open();
    if (at < 0.76) return this.end();
    if (at < 0.81) return { operations: [this.note(this.id("note"))] };
    if (at < 0.86) return this.keep([]);
    if (at < 0.9) return { operations: [{ op: "expire" }] };
    if (at < 0.91) return { operations: [{ op: "anchor" }] };
    return this.allAtOnce();
  }

  id(kind) {
    return `${kind}:${this.name}/${this.count}`;
  }

  budget() {
    const all = ["session", "session", "tight", ...this.runs];
    return all[Math.floor(this.random() * all.length)];
  }

  amounts() {
    return { cost_usd: Math.ceil(this.random() * 0.2 * DOLLAR), steps: 1 };
  }

  asking() {
    const expires = Date.now() + (this.random() < 0.3 ? 5 + Math.floor(this.random() * 40) : FAR_MS);
    const kind = this.random() < 0.5 ? "model" : "tool";
    const asking = {
      op: "reserve",
      budget: this.budget(),
      call: this.id("call"),
      kind,
      asked: this.amounts(),
      expires,
    };
    if (kind !== "model" || asking.budget !== "tight") return asking;
    // A model's answer could be long, and can be cut: to what is left, or to what was learned about others like it.
    const { steps, cost_usd } = asking.asked;
    return { ...asking, asked: { steps, cost_usd: 2 * DOLLAR }, least: { cost_usd: 1 }, learned: { cost_usd } };
  }

  reserve() {
    const asking = this.asking();
    const then = ([{ decision, granted }]) => {
      if (decision.kind === "admitted") this.holds.push({ ...asking, asked: granted });
    };
    return { operations: [asking], then };
  }

  settle() {
    const hold = this.holds.splice(Math.floor(this.random() * this.holds.length), 1)[0];
    if (hold === undefined) return this.reserve();
    if (this.random() < 0.3) return { operations: [{ op: "release", call: hold.call }] };
    const cost_usd = Math.floor(hold.asked.cost_usd * this.random());
    return { operations: [{ op: "commit", call: hold.call, used: { cost_usd, steps: 1 } }] };
  }

  charge() {
    return { op: "charge", budget: this.budget(), call: this.id("charge"), used: this.amounts() };
  }

  extend() {
    return {
      op: "extend",
      budget: "tight",
      additional: { cost_usd: DOLLAR },
      approved_by: "ada",
      reason: this.id("more"),
    };
  }

  open() {
    const id = this.id("run");
    const limits = { kind: "limits", limits: { cost_usd: 3 * DOLLAR, steps: 50 }, clamp: true };
    const grant = this.random() < 0.4 ? { kind: "fraction", of: 0.001 } : limits;
    const then = ([{ budget }]) => {
      if (budget !== null) this.runs.push(id);
    };
    return { operations: [{ op: "open", parent: "session", opening: { id, scope: "run", grant } }], then };
  }

  end() {
    const run = this.runs.find((id) => !this.holds.some(({ budget }) => budget === id));
    if (run === undefined) return this.open();
    this.runs = this.runs.filter((id) => id !== run);
    // A hold that has expired may not have been settled yet; that has to come first.
    return { operations: [{ op: "expire" }, { op: "end", budget: run }] };
  }

  note(key) {
    return { op: "journal", run: `run:${this.name}`, key, entry: { says: key } };
  }

  keep(others) {
    const n = `${this.name}/${this.count}`;
    const document = { kind: "run", id: `run:${this.name}`, budget: null, status: "Running", body: { n } };
    const then = () => {
      this.version += 1;
    };
    return { operations: [...others, { op: "put", ...document, version: this.version }], then };
  }

  /** Several operations that have to happen together or not at all, as a step of a run does. Nobody settles its hold. */
  allAtOnce() {
    const asking = { ...this.asking(), budget: "session" };
    const charge = { ...this.charge(), call: this.id("together") };
    return this.keep([asking, charge, this.note(this.id("together"))]);
  }
}

/** What the parent needs of an outcome in order to hold the store to it. */
function brief({ op, decision, granted, budget, charged, repeated, links, document, entry, result, calls }) {
  const kind = decision?.kind ?? result?.kind;
  return {
    op,
    kind,
    granted,
    charged,
    repeated,
    links,
    document,
    entry,
    calls,
    opened: budget === null ? null : budget?.id,
  };
}

async function drive({ store, address, place }) {
  const { seed, name, again = [] } = address;
  // As every gate does; what listens has to survive, too.
  store.watch(() => {});
  const first = new Caller(store, place, { name: `${name}.again`, seed });
  // What was not acknowledged before the last crash is asked for again under the same ids, as an agent would.
  await Promise.all(again.map((operations) => first.send({ operations }, true)));
  const callers = Array.from(
    { length: errand.callers },
    (_, at) => new Caller(store, place, { name: `${name}.${at}`, seed: seed * 31 + at }),
  );
  await Promise.all(callers.map((caller) => caller.work(errand.lists)));
  await store[Symbol.asyncDispose]();
}

function die() {
  process.kill(process.pid, "SIGKILL");
}

// Death may come while the store is still being opened, or so many milliseconds after that.
const { opening_ms, working_ms } = errand.death ?? {};
if (opening_ms !== undefined) setTimeout(die, opening_ms);
const open = async (address, place) => ({ store: await openStore(address), address, place });
const stores = await Promise.all(errand.stores.map(open));
say({ opened: true });
if (working_ms !== undefined) setTimeout(die, working_ms);
await Promise.all(stores.map(drive));
say({ done: true });
