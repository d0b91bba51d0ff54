// `node --import bursar/register app.js`: a hard budget for a program that knows nothing of Bursar. Loading this file governs the
// global `fetch` of the process, and of the threads and processes that it starts.

import { writeSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { type OpenBudget, openBudget } from "./ambient/open-budget.js";
import { readBudgetFlag } from "./config/budget-flag.js";
import { writeAmount } from "./core/dimension.js";
import { BursarError, LedgerError } from "./core/errors.js";
import { readLimits } from "./core/input.js";
import { Allowance } from "./models/meter/allowed-members.js";
import { statedPrices } from "./models/prices/open-prices.js";
import { Awake } from "./models/register/awake.js";
import { governDescendants } from "./models/register/descendants.js";
import {
  allowedIn,
  deploymentsIn,
  type Environment,
  policiesIn,
  pricesIn,
  saidIn,
} from "./models/register/environment.js";
import { FatalSignals } from "./models/register/fatal-signals.js";
import { governedGlobal } from "./models/register/governed-global.js";
import { Passage } from "./models/register/passage.js";
import { HOSTS_VARIABLE, Providers } from "./models/register/providers.js";
import { shutSideDoors } from "./models/register/side-doors.js";
import { Tally } from "./models/register/tally.js";
import { UnderWay } from "./models/register/under-way.js";
import { Deployments } from "./models/wire/deployments.js";
import type { Store } from "./ports/store.js";
import { newName } from "./runtime/names.js";
import { setRootPurse } from "./runtime/purse.js";
import type { StoreAddress } from "./stores/address.js";
import { addressOf, openAt } from "./stores/open.js";

/** Says to those below that they have a budget already, and how it is called. */
const INHERITED = "BURSAR_REGISTERED";
const MOST_ATTEMPTS = 5;
const HOW = `set BURSAR_BUDGET, such as BURSAR_BUDGET="cost_usd=0.50,steps=20"; without it nothing is started`;

function say(text: string): void {
  try {
    // Written at once, because a process that ends does not wait.
    writeSync(2, `bursar: ${text}\n`);
  } catch {
    // Nobody reads it any more, such as in a terminal that was closed; that is no reason to end otherwise.
  }
}

function giveUp(text: string): never {
  say(text);
  process.exit(2);
}

/** Opens a store that lets the process end. The thread of SQLite does so by itself. */
async function openQuietly(address: StoreAddress): Promise<Store> {
  if (address.engine !== "postgres") return openAt(address);
  const { PostgresStore } = await import("./stores/postgres/postgres.js");
  const { url, schema } = address;
  const awake = new Awake();
  return awake.over(await awake.during(PostgresStore.open({ url, schema, quiet: true })));
}

/** Opens the budget of all the processes together. Two that start at once may both find that it is not there yet. */
async function openRoot(address: StoreAddress, name: string, env: Environment): Promise<OpenBudget> {
  const { limits } = readBudgetFlag(saidIn(env, "BURSAR_BUDGET") ?? "", { flag: "BURSAR_BUDGET" });
  const policies = policiesIn(env);
  const store = await openQuietly(address);
  for (let attempt = 1; ; attempt++) {
    try {
      return await openBudget(limits, { store, name, policies });
    } catch (error) {
      const isRace = error instanceof LedgerError && !/has ended/.test(error.message);
      if (!isRace || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

/** A budget that goes on keeps the limits it has: whoever states others now must not believe that they count. */
async function tellOthers({ id, purse: { store } }: OpenBudget, env: Environment): Promise<void> {
  const { limits } = readBudgetFlag(saidIn(env, "BURSAR_BUDGET") ?? "", { flag: "BURSAR_BUDGET" });
  const wanted = readLimits(limits, store.dimensions);
  const there = (await store.budget(id))?.limits ?? wanted;
  const others = store.dimensions.all.filter((dimension) => there[dimension.id] !== wanted[dimension.id]);
  if (others.length === 0) return;
  const parts = others.map((dimension) => {
    const limit = there[dimension.id];
    return limit === undefined ? `no limit of ${dimension.id}` : `${dimension.id}=${writeAmount(dimension, limit)}`;
  });
  say(`budget ${id} was opened before, with ${parts.join(", ")}; that holds, and BURSAR_BUDGET changes nothing of it`);
  say("give another BURSAR_NAME for other limits, or extend it with `bursar extend`");
}

/** Where the chain is, without what would let anybody in. */
function shown(address: StoreAddress): string {
  switch (address.engine) {
    case "memory":
      return "its chain was kept in memory and is gone; set BURSAR_STORE to keep it";
    case "sqlite":
      return `its chain is in sqlite:${address.path}`;
    case "postgres": {
      const { host, pathname } = new URL(address.url);
      return `its chain is in postgres://${host}${pathname}, schema ${address.schema}`;
    }
  }
}

interface Registered {
  readonly name: string;
  readonly address: StoreAddress;
  readonly providers: Providers;
}

/** What leads others to the same budget, also from another folder. */
function handedDown(env: Environment, { name, address, providers }: Registered): Readonly<Record<string, string>> {
  const said = (variable: string) => saidIn(env, variable) ?? "";
  const prices = said("BURSAR_PRICES");
  const isFile = prices !== "" && !prices.startsWith("{") && !isAbsolute(prices);
  return {
    BURSAR_BUDGET: said("BURSAR_BUDGET"),
    BURSAR_POLICIES: said("BURSAR_POLICIES"),
    BURSAR_PRICES: isFile ? resolve(prices) : prices,
    BURSAR_DEPLOYMENTS: said("BURSAR_DEPLOYMENTS"),
    BURSAR_ALLOW: said("BURSAR_ALLOW"),
    BURSAR_STORE: address.engine === "sqlite" ? `sqlite:${resolve(address.path)}` : said("BURSAR_STORE"),
    BURSAR_NAME: name,
    [HOSTS_VARIABLE]: providers.list,
    [INHERITED]: name,
  };
}

async function register(env: NodeJS.ProcessEnv): Promise<void> {
  if (saidIn(env, "BURSAR_BUDGET") === null) giveUp(`there is no budget; ${HOW}`);
  const inherited = saidIn(env, INHERITED) !== null;
  const prices = pricesIn(env);
  const deployments = deploymentsIn(env);
  const allow = allowedIn(env);
  // Whoever mistypes a price or a deployment hears of it now, and not when the first model is called.
  statedPrices(prices);
  new Deployments(deployments);
  new Allowance(allow);
  const meter = { ...prices, deployments, allow };
  const address = addressOf(saidIn(env, "BURSAR_STORE") ?? "memory:");
  const name = saidIn(env, "BURSAR_NAME") ?? `register-${newName(Date.now())}`;
  // A budget in memory is not found from anywhere else, and one of the same size for each process would be no limit.
  if (!(inherited && address.engine === "memory")) {
    const budget = await openRoot(address, name, env);
    setRootPurse(budget.purse);
    if (!inherited) await tellOthers(budget, env);
  }
  const providers = new Providers(env);
  governDescendants({ register: import.meta.url, variables: handedDown(env, { name, address, providers }) }, env);
  const tally = new Tally();
  const under_way = new UnderWay();
  const passage = new Passage();
  globalThis.fetch = governedGlobal(globalThis.fetch, { providers, tally, under_way, meter, passage });
  shutSideDoors(providers, passage);
  let summed_up = false;
  const sumUp = () => {
    if (summed_up || (tally.isEmpty && (inherited || !isMainThread))) return;
    summed_up = true;
    for (const line of [...tally.lines(name), shown(address)]) say(line);
  };
  process.once("exit", sumUp);
  // Threads hear no signals.
  if (isMainThread) new FatalSignals({ settle: () => under_way.end(), say: sumUp });
}

/** The thread of a store of ours loads this file too, and must not open a store for itself. */
const OWN_THREAD = fileURLToPath(new URL("./stores/sqlite/worker.js", import.meta.url));

if (isMainThread || process.argv[1] !== OWN_THREAD) {
  await register(process.env).catch((error: unknown) => {
    giveUp(error instanceof BursarError ? `${error.message}` : `cannot start: ${String(error)}`);
  });
}
