import { type Gateway, openGateway, type UpstreamOptions } from "bursar/gateway";
import { asUsage } from "../app/as-usage.js";
import { gatewayOptions } from "../app/equipment/gateway-options.js";
import { UsageError } from "../app/errors.js";
import { notListening, untilStopped } from "../app/listening.js";
import { checkWebhook, type Place } from "../app/store/opened-store.js";
import { GATEWAY_FLAGS, GATEWAY_HELP, gatewayPlan } from "../arguments/gateway-flags.js";
import {
  connectionsOf,
  GRACE_MS,
  hostOf,
  LISTENING,
  LISTENING_HELP,
  readGrace,
  readPort,
  tlsOf,
} from "../arguments/listening-flags.js";
import { COMMON_HELP, type Given, listOf, textOf } from "../arguments/run-flags.js";
import { readUpstreams, refuseItself, UPSTREAMS_HELP } from "../arguments/upstream-flags.js";
import type { Terminal } from "../terminal/terminal.js";
import { configMember, tellConfig } from "./common/config-notice.js";
import { GatewayTelling } from "./common/gateway-output.js";
import { configOf, isKept, makePlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";
import { openSweeping } from "./common/sweeping.js";

const COMMAND: RunsCommand = {
  help: `Usage: bursar gateway [flags]

A reverse proxy with hard budgets, for clients of any language: they take it as
their base address, and a key of its own in place of the provider's. A request
that does not fit into the budget behind the key is refused with 402, and not
sent. Make keys with \`bursar keys create\`.

Stopped with Ctrl-C or SIGTERM it takes no more requests, and gives those under
way ${GRACE_MS / 1000} seconds, or what --grace says; a second Ctrl-C does not wait for them.

Flags:
${LISTENING_HELP}
${GATEWAY_HELP}
  --price <..>       what a model costs in USD for a million tokens, in and
                     out, as llama3.2=0,0; may be given again
  --deployment <..>  which model a deployment runs, where models have names of
                     their own, as at Azure: chat-prod=gpt-4o-mini; may be
                     given again
  --allow <..>       what is sent to a host though it may choose another model
                     or bring input: members of a body, headers, parameters,
                     as openrouter.ai=provider,models; may be given again
${COMMON_HELP}

${UPSTREAMS_HELP}

With --json each request that is over is a line.

Exit codes: 0 stopped, 1 failed, 2 not understood

Examples:
  bursar gateway --budget cost_usd=5
  bursar gateway --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
  bursar gateway --upstream local=http://localhost:11434/v1 --price llama3.2=0,0
`,
  flags: { ...LISTENING, ...GATEWAY_FLAGS },
  run: serve,
};

export function gateway(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function serve({ flags, terminal, style }: Chore): Promise<Done> {
  if (listOf(flags, "price").some((text) => !text.includes("="))) {
    throw new UsageError("--price names no model; write --price llama3.2=0,0");
  }
  const upstreams = readUpstreams(flags, terminal.env);
  refuseItself(upstreams, readPort(textOf(flags, "port")));
  const grace_ms = readGrace(flags);
  const config = configOf(flags, terminal);
  tellConfig(config, flags);
  checkWebhook(config, terminal.env);
  checkKeyed(flags, isKept(flags, config, terminal));
  const telling = new GatewayTelling(terminal, style, { json: flags.json === true, quiet: flags.quiet === true });
  await using place = await makePlace(flags, config, terminal);
  await using _sweeping = await openSweeping(place, flags, config);
  const gateway = await begin(flags, terminal, place, { upstreams, telling });
  try {
    await untilStopped(terminal.signal);
  } finally {
    telling.say("takes no more requests, and waits for those under way");
    await gateway.close({ within_ms: grace_ms });
  }
  return { report: null, text: "" };
}

function checkKeyed(flags: Given, kept: boolean): void {
  if (flags.budget !== undefined || kept) return;
  throw new UsageError(
    "a memory: store ends with this process, so no key can be in it; name another, or give --budget",
  );
}

interface Parts {
  readonly upstreams: readonly UpstreamOptions[];
  readonly telling: GatewayTelling;
}

async function begin(
  flags: Given,
  terminal: Terminal,
  { store, config }: Place,
  { upstreams, telling }: Parts,
): Promise<Gateway> {
  const port = readPort(textOf(flags, "port"));
  const host = hostOf(flags);
  const url = textOf(flags, "url");
  const tls = tlsOf(flags);
  const options = await gatewayOptions(gatewayPlan(flags, terminal.env, config), config, store);
  const opening = asUsage("", () =>
    openGateway({
      ...options,
      ...connectionsOf(flags),
      port,
      ...(host !== undefined && { host }),
      ...(url !== undefined && { url }),
      ...(tls !== null && { tls }),
      onServed: (served) => telling.served(served),
      onError: (error) => telling.failed(error),
    }),
  );
  const gateway = await opening.catch((error: unknown) => {
    throw notListening(error, host, port);
  });
  telling.begin(gateway, upstreams, options.budget?.id ?? null, configMember(config));
  return gateway;
}
