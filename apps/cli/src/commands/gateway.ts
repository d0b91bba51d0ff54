import { type OpenBudget, openBudget, Sweeper } from "bursar";
import { type Gateway, openGateway, type UpstreamOptions } from "bursar/gateway";
import { UsageError, unknown } from "../args.js";
import { readSpan } from "../render/quantities.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "../runs/command.js";
import { configMember, tellConfig } from "../runs/config-notice.js";
import { deploymentsOf } from "../runs/deployments.js";
import { COMMON_HELP, type Given, limitsOf, pairsOf, textOf } from "../runs/flags.js";
import { gatewayForesight } from "../runs/foresight.js";
import { configOf, isKept, makePlace, type Place } from "../runs/place.js";
import { gatewayPrices } from "../runs/prices.js";
import type { Terminal } from "../terminal.js";
import { GatewayTelling } from "./gateway-telling.js";
import { readUpstreams, refuseItself, UPSTREAMS_HELP } from "./gateway-upstreams.js";
import { asUsage, DRAIN_MS, hostOf, notListening, PORT, readPort, tlsOf, untilStopped } from "./listening.js";

const LONGEST_WAIT_MS = 3_600_000;

const COMMAND: RunsCommand = {
  help: `Usage: bursar gateway [flags]

A reverse proxy with hard budgets, for clients of any language: they take it as
their base address, and a key of its own in place of the provider's. A request
that does not fit into the budget behind the key is refused with 402, and not
sent. Make keys with \`bursar keys create\`.

Stopped with Ctrl-C or SIGTERM it takes no more requests, and gives those under
way ${DRAIN_MS / 1000} seconds; a second Ctrl-C does not wait for them.

Flags:
  --port <n>         where it listens: ${PORT} unless said otherwise; 0 for any
  --host <address>   on which address of this machine: 127.0.0.1
  --budget <limits>  a budget for programs of this machine that show no key, as
                     cost_usd=5,steps=1000; without it all have to show one
  --policies <..>    what happens when it is used up, as
                     cost_usd=approval_required
  --name <name>      its name; one of that name that is there goes on
  --upstream <..>    a provider, as openai=https://api.openai.com/v1; may be
                     given again
  --price <..>       what a model costs in USD for a million tokens, in and
                     out, as llama3.2=0,0; may be given again
  --deployment <..>  which model a deployment runs, where models have names of
                     their own, as at Azure: chat-prod=gpt-4o-mini; may be
                     given again
  --assume <in,out>  what models cost that nobody knows; else they are refused
  --count <who>      who bounds a request that does not fit by its bytes: bytes,
                     which nobody is asked for, or provider, which is asked how
                     many tokens it has; each question takes a step
  --wait <time>      how long a call waits for what others hold: 30s
  --tls-cert <file>  a certificate, and
  --tls-key <file>   its key, as PEM: then it speaks HTTPS
  --url <address>    where clients find it, if that is somewhere else
  --quiet            tell nothing but faults
${COMMON_HELP}

${UPSTREAMS_HELP}

With --json each request that is over is a line.

Exit codes: 0 stopped, 1 failed, 2 not understood

Examples:
  bursar gateway --budget cost_usd=5
  bursar gateway --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
  bursar gateway --upstream local=http://localhost:11434/v1 --price llama3.2=0,0
`,
  flags: {
    port: { type: "string" },
    host: { type: "string" },
    budget: { type: "string" },
    policies: { type: "string" },
    name: { type: "string" },
    upstream: { type: "string", multiple: true },
    price: { type: "string", multiple: true },
    assume: { type: "string" },
    deployment: { type: "string", multiple: true },
    count: { type: "string" },
    wait: { type: "string" },
    "tls-cert": { type: "string" },
    "tls-key": { type: "string" },
    url: { type: "string" },
    quiet: { type: "boolean" },
  },
  run: serve,
};

export function gateway(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function serve({ flags, terminal, style }: Chore): Promise<Done> {
  const budgeted = textOf(flags, "budget");
  const upstreams = readUpstreams(flags, terminal.env);
  refuseItself(upstreams, readPort(textOf(flags, "port")));
  const config = configOf(flags, terminal);
  tellConfig(config, flags);
  if (budgeted === undefined) checkKeyed(flags, isKept(flags, config, terminal));
  const telling = new GatewayTelling(terminal, style, { json: flags.json === true, quiet: flags.quiet === true });
  await using place = await makePlace(flags, config);
  using sweeper = new Sweeper({ store: place.store });
  sweeper.start();
  const budget = budgeted === undefined ? null : await openOwn(place, budgeted, flags);
  const gateway = await begin(flags, place, { budget, upstreams, telling });
  telling.begin(gateway, upstreams, budget?.id ?? null, configMember(config));
  try {
    await untilStopped(terminal.signal);
  } finally {
    telling.say("takes no more requests, and waits for those under way");
    await gateway.close({ within_ms: DRAIN_MS });
  }
  return { report: null, text: "" };
}

function checkKeyed(flags: Given, kept: boolean): void {
  const lonely = ["policies", "name"].find((name) => flags[name] !== undefined);
  if (lonely !== undefined) throw new UsageError(`--${lonely} says nothing without --budget`);
  if (kept) return;
  throw new UsageError(
    "a memory: store ends with this process, so no key can be in it; name another, or give --budget",
  );
}

/** The budget of those who show no key. */
async function openOwn({ store }: Place, limits: string, flags: Given): Promise<OpenBudget> {
  const policies = textOf(flags, "policies");
  const name = textOf(flags, "name");
  return asUsage("--budget", () =>
    openBudget(limitsOf(limits, "--budget"), {
      ...{ store, parent: null },
      ...(policies !== undefined && { policies: pairsOf(policies, "--policies") as never }),
      ...(name !== undefined && { name }),
    }),
  );
}

interface Parts {
  readonly budget: OpenBudget | null;
  readonly upstreams: readonly UpstreamOptions[];
  readonly telling: GatewayTelling;
}

async function begin(flags: Given, { store, config }: Place, { budget, upstreams, telling }: Parts): Promise<Gateway> {
  const port = readPort(textOf(flags, "port"));
  const host = hostOf(flags);
  const url = textOf(flags, "url");
  const tls = tlsOf(flags);
  const wait_ms = readWait(textOf(flags, "wait"));
  const count = readCount(textOf(flags, "count"));
  const foresight = gatewayForesight(config);
  const opening = asUsage("", () =>
    openGateway({
      ...{ store, upstreams, port, ...gatewayPrices(flags), ...foresight, deployments: deploymentsOf(flags, config) },
      ...(budget !== null && { budget }),
      ...(host !== undefined && { host }),
      ...(url !== undefined && { url }),
      ...(tls !== null && { tls }),
      ...(wait_ms !== null && { wait_ms }),
      ...(count !== null && { count }),
      onServed: (served) => telling.served(served),
      onError: (error) => telling.failed(error),
    }),
  );
  return opening.catch((error: unknown) => {
    throw notListening(error, host, port);
  });
}

const COUNTS = ["bytes", "provider"] as const;

function readCount(text: string | undefined): (typeof COUNTS)[number] | null {
  if (text === undefined) return null;
  const count = COUNTS.find((each) => each === text);
  if (count === undefined) throw new UsageError(unknown(`--count ${text.slice(0, 40)}`, text, COUNTS));
  return count;
}

function readWait(text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = readSpan(text);
  if (ms !== null && ms <= LONGEST_WAIT_MS) return ms;
  throw new UsageError(`--wait is ${text.slice(0, 40)}; allowed: a time from 0s to 1h`);
}
