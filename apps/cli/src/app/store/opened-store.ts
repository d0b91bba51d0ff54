import { AnnouncedStore, openStore, type Store, Webhook } from "bursar";
import { type Configuration, loadConfig, printProblem } from "bursar/config";
import { openHousekeeping } from "bursar/store";
import { CommandError } from "../args.js";
import type { Terminal } from "../terminal.js";
import { type Given, textOf } from "./flags.js";

/** So long a command that ends waits for the webhook to take what it was told last. */
const LAST_WORDS_MS = 5000;

/** The store that runs live in, and the configuration they live by. */
export interface Place extends AsyncDisposable {
  readonly config: Configuration;
  /** Announces requests for approval and decisions, if the configuration says where. */
  readonly store: Store;
  /** Does something as the last thing before the store is closed. */
  readonly beforeClosing: (work: () => Promise<void>) => void;
}

export function configOf(flags: Given, { env }: Terminal): Configuration {
  const checkStore = (url: string) => void (url === "memory:" || openHousekeeping(url));
  return loadConfig(textOf(flags, "config"), { env, checkStore }).config;
}

/** Opens the store for a command that only looks for what is there: a name that is misspelt must not make a new one. */
export async function openPlace(flags: Given, terminal: Terminal): Promise<Place> {
  const config = configOf(flags, terminal);
  tellIgnoredStore(config, flags);
  const url = storeUrl(flags, config);
  await using housekeeping = openHousekeeping(url);
  const { before, where } = await housekeeping.migrate({ dry: true });
  if (before === 0) {
    throw new CommandError(`there is no store at ${where}, so there are no runs; \`bursar run\` makes one`);
  }
  return opened(config, await openStore(url), terminal);
}

/** Who looks for runs in one store while they are in another has to hear why. */
function tellIgnoredStore(config: Configuration, { json, quiet, store }: Given): void {
  if (json === true || quiet === true || store !== undefined) return;
  const ignored = config.ignored.filter(({ field }) => field === "store");
  for (const problem of ignored) process.stderr.write(`bursar: warning: ${printProblem(problem)}\n`);
}

/** The same for a command that does with what is there: where there is no store, nothing is known, and none is made. */
export async function lookPlace(flags: Given, config: Configuration, terminal: Terminal): Promise<Place> {
  const url = storeUrl(flags, config);
  if (/^memory:/i.test(url ?? "")) return opened(config, await openStore(url), terminal);
  await using housekeeping = openHousekeeping(url);
  const { before } = await housekeeping.migrate({ dry: true });
  return opened(config, await openStore(before === 0 ? "memory:" : url), terminal);
}

/** The same for a command that starts something, which makes the store when it is not there. */
export async function makePlace(flags: Given, config: Configuration, terminal: Terminal): Promise<Place> {
  return opened(config, await openStore(storeUrl(flags, config)), terminal);
}

function opened(config: Configuration, store: Store, { env }: Terminal): Place {
  const last: (() => Promise<void>)[] = [];
  const webhook = webhookOf(config, env);
  if (webhook !== null) last.push(() => webhook.settled({ within_ms: LAST_WORDS_MS }));
  const close = async () => {
    try {
      for (const work of last) await work();
    } finally {
      await store[Symbol.asyncDispose]();
    }
  };
  return {
    config,
    store: webhook === null ? store : AnnouncedStore.over(store, webhook),
    beforeClosing: (work) => void last.push(work),
    [Symbol.asyncDispose]: close,
  };
}

/** The store that flags and configuration name; undefined for the one of the environment, or the user's own. */
export function storeUrl(flags: Given, config: Configuration): string | undefined {
  return textOf(flags, "store") ?? config.store?.url;
}

/** Whether what is written outlives the process. */
export function isKept(flags: Given, config: Configuration, { env }: Terminal): boolean {
  return !/^memory:/i.test(storeUrl(flags, config) ?? env.BURSAR_STORE ?? "");
}

/** A command that may ask somebody for approval, or decide, does not start when it could not announce that. */
export function checkWebhook({ webhook }: Configuration, { env }: Terminal): void {
  if (webhook === null || env[webhook.secret_env]) return;
  throw new CommandError(`the configuration has a webhook, and ${webhook.secret_env} is not set; put its secret there`);
}

/** Where requests and decisions are announced, if the configuration says so and its secret is there. */
function webhookOf({ webhook }: Configuration, env: Terminal["env"]): Webhook | null {
  const secret = webhook === null ? undefined : env[webhook.secret_env];
  return webhook === null || !secret ? null : new Webhook({ url: webhook.url, secret });
}
