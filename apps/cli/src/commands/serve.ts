import { WORKER_SLOTS } from "bursar";
import { UsageError } from "../app/errors.js";
import { untilStopped } from "../app/listening.js";
import { command } from "../arguments/command-line.js";
import { equipmentOptions } from "../arguments/equipment-flags.js";
import { checkNoGateway, GATEWAY_FLAGS, GATEWAY_HELP, gatewayPlan } from "../arguments/gateway-flags.js";
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
import { COMMON_HELP, countOf, EQUIPMENT, EQUIPMENT_HELP, type Given, textOf } from "../arguments/run-flags.js";
import { hasUpstreams, UPSTREAMS_HELP } from "../arguments/upstream-flags.js";
import { demoStore } from "../serve/demo-store.js";
import { type ListeningOptions, openServing } from "../serve/serving.js";
import { Patience } from "../terminal/patience.js";
import type { Terminal } from "../terminal/terminal.js";
import { configMember, tellConfig } from "./common/config-notice.js";
import { configOf, storeUrl } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";
import { ServeTelling } from "./common/serve-output.js";
import { warnOfDefect } from "./common/sweeping.js";

const MOST = 1000;

const COMMAND: RunsCommand = {
  help: `Usage: bursar serve [flags]

Everything in one process: the page, the HTTP API with live updates, a worker
that drives runs, the gateway for clients of any language at /v1, MCP at /mcp,
metrics and health. On this machine alone, and without a login, unless --host
names another address: then everybody has to show a token (\`bursar tokens
create\`).

Stopped with Ctrl-C or SIGTERM it takes no more requests, and gives those under
way, and the calls that its runs are making, ${GRACE_MS / 1000} seconds, or what --grace
says; its runs are left where they are, and whoever serves or works next takes
them up.

Flags:
${LISTENING_HELP}
  --login            demand tokens on this machine too
  --most <n>         how many runs are driven at the same time: ${WORKER_SLOTS}; 0 for none
  --demo             a store of its own, and in it a run that waits for you
${EQUIPMENT_HELP}
Of the gateway, which also takes each --price that names a model:
${GATEWAY_HELP}
${COMMON_HELP}

${UPSTREAMS_HELP}
Without any, there is no gateway.

Exit codes: 0 stopped, 1 failed, 2 not understood

Examples:
  bursar serve
  bursar serve --module tools.mjs --store sqlite:team.db
  bursar serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
  bursar serve --demo
`,
  flags: {
    login: { type: "boolean" },
    most: { type: "string" },
    demo: { type: "boolean" },
    ...LISTENING,
    ...GATEWAY_FLAGS,
    ...EQUIPMENT,
  },
  run: work,
};

export function serve(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function work({ flags, terminal, style }: Chore): Promise<Done> {
  const most = flags.most === "0" ? 0 : (countOf(flags, "most", MOST) ?? WORKER_SLOTS);
  if (flags.demo === true && flags.module !== undefined) {
    throw new UsageError("--demo has tools and a model of its own; leave --module out");
  }
  const grace_ms = readGrace(flags);
  const telling = new ServeTelling(terminal, style, { json: flags.json === true, quiet: flags.quiet === true });
  const onError = (error: unknown) => telling.failed(error);
  const { env } = terminal;
  const config = configOf(flags, terminal);
  tellConfig(config, flags);
  const named = textOf(flags, "store") ?? (flags.demo === true ? demoStore(env) : undefined);
  // Commands that people are told name the store, also where no flag did.
  const placed: Given = named === undefined ? flags : { ...flags, store: named };
  const hasGateway = hasUpstreams(flags, env);
  if (!hasGateway) checkNoGateway(flags, EQUIPMENT);
  await using serving = await openServing({
    env,
    config,
    store: storeUrl(placed, config),
    isDemo: flags.demo === true,
    equipment: equipmentOptions(flags, { env, config, hasGateway }),
    gateway: hasGateway ? gatewayPlan(flags, env, config) : null,
    listening: listeningOf(flags),
    commandLine: (name, id) => command(name, id, placed, null),
    most,
    onError,
    onDefect: warnOfDefect,
  });
  const served = { ...serving, store: named ?? "", ...configMember(config) };
  telling.begin(served);
  const { signal } = terminal;
  const isTold = flags.demo === true && flags.json !== true && flags.quiet !== true;
  const patience = new Patience(isTold ? terminal.aside : null, "making a run that waits");
  const demo = serving.demo().finally(() => patience[Symbol.dispose]());
  demo.then(
    (run) => run !== null && !signal.aborted && telling.demo(run, served),
    (error: unknown) => !signal.aborted && onError(error),
  );
  await untilStopped(signal);
  patience[Symbol.dispose]();
  telling.say("takes no more requests, and waits for those under way");
  await serving.close(grace_ms);
  return { report: null, text: "" };
}

function listeningOf(flags: Given): ListeningOptions {
  const [host, url] = [hostOf(flags), textOf(flags, "url")];
  const tls = tlsOf(flags);
  const port = textOf(flags, "port");
  return {
    port: readPort(port),
    // A demonstration that names no port runs on any.
    mayTakeAnyPort: port === undefined && flags.demo === true,
    ...connectionsOf(flags),
    ...(host !== undefined && { host }),
    ...(url !== undefined && { url }),
    ...(tls !== null && { tls }),
    ...(flags.login === true && { requireLogin: true }),
  };
}
