import { AnnouncedStore, openStore, type Store, Webhook } from "bursar";
import { type Configuration, loadConfig } from "bursar/config";
import { openHousekeeping } from "bursar/store";
import type { Environment } from "../environment.js";
import { CommandError } from "../errors.js";

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

/** Reads the configuration: this file, or the one that applies here. */
export function readConfiguration(file: string | undefined, env: Environment): Configuration {
  const checkStore = (url: string) => void (url === "memory:" || openHousekeeping(url));
  return loadConfig(file, { env, checkStore }).config;
}

/** Opens a store that is there. A command that only looks must not make a new store from a misspelt name. */
export async function openPlace(config: Configuration, url: string | undefined, env: Environment): Promise<Place> {
  await using housekeeping = openHousekeeping(url);
  const { before, where } = await housekeeping.migrate({ dry: true });
  if (before === 0) {
    throw new CommandError(`there is no store at ${where}, so there are no runs; \`bursar run\` makes one`);
  }
  return opened(config, await openStore(url), env);
}

/** Opens a store that is there, and an empty one in memory where there is none. */
export async function lookPlace(config: Configuration, url: string | undefined, env: Environment): Promise<Place> {
  if (/^memory:/i.test(url ?? "")) return opened(config, await openStore(url), env);
  await using housekeeping = openHousekeeping(url);
  const { before } = await housekeeping.migrate({ dry: true });
  return opened(config, await openStore(before === 0 ? "memory:" : url), env);
}

/** Opens a store, and makes it where there is none. */
export async function makePlace(config: Configuration, url: string | undefined, env: Environment): Promise<Place> {
  return opened(config, await openStore(url), env);
}

function opened(config: Configuration, store: Store, env: Environment): Place {
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

/** A command that may ask somebody for approval, or decide, does not start when it could not announce that. */
export function checkWebhook({ webhook }: Configuration, env: Environment): void {
  if (webhook === null || env[webhook.secret_env]) return;
  throw new CommandError(`the configuration has a webhook, and ${webhook.secret_env} is not set; put its secret there`);
}

/** Where requests and decisions are announced, if the configuration says so and its secret is there. */
function webhookOf({ webhook }: Configuration, env: Environment): Webhook | null {
  const secret = webhook === null ? undefined : env[webhook.secret_env];
  return webhook === null || !secret ? null : new Webhook({ url: webhook.url, secret });
}
