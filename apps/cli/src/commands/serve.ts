import { WORKER_SLOTS } from "bursar";
import { UsageError } from "../args.js";
import { Patience } from "../render/patience.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "../runs/command.js";
import { COMMON_HELP, countOf, EQUIPMENT, EQUIPMENT_HELP } from "../runs/flags.js";
import { openServing } from "../serve/serving.js";
import { ServeTelling } from "../serve/telling.js";
import type { Terminal } from "../terminal.js";
import { GATEWAY_FLAGS, GATEWAY_HELP } from "./gateway-options.js";
import { UPSTREAMS_HELP } from "./gateway-upstreams.js";
import { GRACE_MS, LISTENING, LISTENING_HELP, readGrace, untilStopped } from "./listening.js";

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
  await using serving = await openServing({ flags, terminal, most, onError });
  telling.begin(serving);
  const { signal } = terminal;
  const isTold = flags.demo === true && flags.json !== true && flags.quiet !== true;
  const patience = new Patience(isTold ? terminal.aside : null, "making a run that waits");
  const demo = serving.demo().finally(() => patience[Symbol.dispose]());
  demo.then(
    (run) => run !== null && !signal.aborted && telling.demo(run, serving),
    (error: unknown) => !signal.aborted && onError(error),
  );
  await untilStopped(signal);
  patience[Symbol.dispose]();
  telling.say("takes no more requests, and waits for those under way");
  await serving.close(grace_ms);
  return { report: null, text: "" };
}
