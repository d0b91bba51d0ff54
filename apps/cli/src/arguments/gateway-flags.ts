import type { Configuration } from "bursar/config";
import type { Environment } from "../app/environment.js";
import type { GatewayPlan } from "../app/equipment/gateway-options.js";
import { UsageError, unknown } from "../app/errors.js";
import { allowedBy } from "./allowed-members.js";
import { deploymentsOf } from "./deployments.js";
import { gatewayPrices } from "./prices.js";
import { readSpan } from "./read-span.js";
import { countOf, type Flags, type Given, limitsOf, pairsOf, textOf } from "./run-flags.js";
import { readUpstreams } from "./upstream-flags.js";

// What a gateway can be told on the command line. `bursar gateway` and `bursar serve` take their flags from here.

const LONGEST_WAIT_MS = 3_600_000;
const COUNTS = ["bytes", "provider"] as const;

/** The flags of a gateway, whoever listens for it. */
export const GATEWAY_FLAGS: Flags = {
  budget: { type: "string" },
  policies: { type: "string" },
  name: { type: "string" },
  upstream: { type: "string", multiple: true },
  price: { type: "string", multiple: true },
  assume: { type: "string" },
  deployment: { type: "string", multiple: true },
  allow: { type: "string", multiple: true },
  "strip-tools": { type: "boolean" },
  count: { type: "string" },
  wait: { type: "string" },
  "calls-per-key": { type: "string" },
  "bodies-per-key": { type: "string" },
};

export const GATEWAY_HELP = `  --budget <limits>  a budget for programs of this machine that show no key, as
                     cost_usd=5,steps=1000; without it all have to show one
  --policies <..>    what happens when it is used up, as
                     cost_usd=approval_required
  --name <name>      its name; one of that name that is there goes on
  --upstream <..>    a provider, as openai=https://api.openai.com/v1; may be
                     given again
  --assume <in,out>  what models cost that nobody knows; else they are refused
  --count <who>      who bounds a request that does not fit by its bytes: bytes,
                     which nobody is asked for, or provider, which is asked how
                     many tokens it has; each question takes a step
  --strip-tools      takes tools that the provider runs by itself, such as
                     web_search, out of requests; else they are capped and
                     priced, or refused
  --wait <time>      how long a call waits for what others hold: 30s
  --calls-per-key <n>
                     how many calls a key may have under way: 1024; the next one
                     is answered with 429
  --bodies-per-key <MB>
                     how many megabytes the bodies of these calls may have
                     together: 128`;

const MEGABYTE = 1024 * 1024;
const MOST_CALLS = 1_000_000;
/** The longest body has to fit. */
const [LEAST_BODIES, MOST_BODIES] = [32, 1_000_000];

/** What flags, environment and configuration say of a gateway. */
export function gatewayPlan(flags: Given, env: Environment, config: Configuration): GatewayPlan {
  const lonely = ["policies", "name"].find((name) => flags[name] !== undefined);
  const limits = textOf(flags, "budget");
  if (lonely !== undefined && limits === undefined) throw new UsageError(`--${lonely} says nothing without --budget`);
  const upstreams = readUpstreams(flags, env);
  const wait_ms = readWait(textOf(flags, "wait"));
  const count = readCount(textOf(flags, "count"));
  const calls_per_key = countOf(flags, "calls-per-key", MOST_CALLS);
  const bodies = countOf(flags, "bodies-per-key", MOST_BODIES);
  if (bodies !== undefined && bodies < LEAST_BODIES) {
    throw new UsageError(
      `--bodies-per-key is ${bodies}; allowed: ${LEAST_BODIES} megabytes, the longest body, or more`,
    );
  }
  return {
    budget: limits === undefined ? null : ownBudget(limits, flags),
    options: {
      upstreams,
      ...gatewayPrices(flags),
      deployments: deploymentsOf(flags, config),
      allow: allowedBy(flags, config),
      strip_tools: flags["strip-tools"] === true,
      ...(wait_ms !== null && { wait_ms }),
      ...(count !== null && { count }),
      ...(calls_per_key !== undefined && { calls_per_key }),
      ...(bodies !== undefined && { body_bytes_per_key: bodies * MEGABYTE }),
    },
  };
}

/** The budget for programs that show no key. */
function ownBudget(limits: string, flags: Given): NonNullable<GatewayPlan["budget"]> {
  const policies = textOf(flags, "policies");
  const name = textOf(flags, "name");
  return {
    label: "--budget",
    limits: limitsOf(limits, "--budget"),
    ...(policies !== undefined && { policies: pairsOf(policies, "--policies") }),
    ...(name !== undefined && { name }),
  };
}

/** Refuses what is said of a gateway where there is none. */
export function checkNoGateway(flags: Given, others: Flags): void {
  const lonely = Object.keys(GATEWAY_FLAGS).find((name) => flags[name] !== undefined && !Object.hasOwn(others, name));
  if (lonely === undefined) return;
  throw new UsageError(
    `--${lonely} is about the gateway, and there is none; set OPENAI_API_KEY or ANTHROPIC_API_KEY, or name a provider with --upstream`,
  );
}

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
