import { WORKER_SLOTS } from "bursar";
import { UsageError } from "../args.js";
import { Patience } from "../render/patience.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "../runs/command.js";
import { COMMON_HELP, countOf, EQUIPMENT, EQUIPMENT_HELP } from "../runs/flags.js";
import { openServing } from "../serve/serving.js";
import { ServeTelling } from "../serve/telling.js";
import type { Terminal } from "../terminal.js";
import { UPSTREAMS_HELP } from "./gateway-upstreams.js";
import { DRAIN_MS, PORT, untilStopped } from "./listening.js";

const MOST = 1000;

const COMMAND: RunsCommand = {
  help: `Usage: bursar serve [flags]

Everything in one process: the page, the HTTP API with live updates, a worker
that drives runs, the gateway for clients of any language at /v1, MCP at /mcp,
metrics and health. On this machine alone, and without a login, unless --host
names another address: then everybody has to show a token (\`bursar tokens
create\`).

Stopped with Ctrl-C or SIGTERM it takes no more requests, and gives those under
way, and the calls that its runs are making, ${DRAIN_MS / 1000} seconds; its runs are left where
they are, and whoever serves or works next takes them up.

Flags:
  --port <n>         where it listens: ${PORT} unless said otherwise; 0 for any
  --host <address>   on which address of this machine: 127.0.0.1
  --url <address>    where people find it, if that is somewhere else
  --login            demand tokens on this machine too
  --tls-cert <file>  a certificate, and
  --tls-key <file>   its key, as PEM: then it speaks HTTPS
  --most <n>         how many runs are driven at the same time: ${WORKER_SLOTS}; 0 for none
  --upstream <..>    a provider behind the gateway, as
                     openai=https://api.openai.com/v1; may be given again
  --demo             a store of its own, and in it a run that waits for you
  --quiet            tell nothing but faults
${EQUIPMENT_HELP}
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
    ...{ port: { type: "string" }, host: { type: "string" }, url: { type: "string" }, login: { type: "boolean" } },
    ...{ "tls-cert": { type: "string" }, "tls-key": { type: "string" }, most: { type: "string" } },
    ...{ upstream: { type: "string", multiple: true }, demo: { type: "boolean" }, quiet: { type: "boolean" } },
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
  await serving.close(DRAIN_MS);
  return { report: null, text: "" };
}
