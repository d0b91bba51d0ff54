import type { ConfigReport } from "../../app/config-report.js";
import { quoted } from "../../app/programs/program-needs.js";
import { mayHoldLogin } from "../../app/store/store-login.js";
import { command } from "../../arguments/command-line.js";
import { harmless } from "../../render/style.js";
import type { Serving } from "../../serve/serving.js";
import { ServiceOutput } from "./service-output.js";

/** What is sent without TLS, and leaves this machine. */
const IN_THE_OPEN = /^http:\/\/(?!localhost[:/]|127\.|\[::1\])/;

/** What is served, and how it was started. */
interface Served extends Pick<Serving, "url" | "hasGateway" | "demanding"> {
  /** The store that was named; empty for the user's own. */
  readonly store: string;
  readonly configuration?: ConfigReport;
}

/** What a server says: where it is, what to try, and what went wrong. */
export class ServeTelling extends ServiceOutput {
  /** Says where it listens, and what is there. */
  begin({ url, hasGateway, demanding, store, configuration }: Served): void {
    const { json, quiet } = this.choice;
    const { pid } = process;
    const event = {
      event: "listening",
      url,
      pid,
      gateway: hasGateway,
      login: demanding,
      ...(configuration !== undefined && { configuration }),
    };
    if (json) this.terminal.write(`${JSON.stringify(event)}\n`);
    if (json || quiet) return;
    const { bold, dim } = this.style;
    const places: readonly (readonly [string, string])[] = [
      ["page", url],
      ["API", `${url}/api/v1  ${dim(`described at ${url}/openapi.json`)}`],
      ["MCP", `${url}/mcp`],
      ["gateway", hasGateway ? `${url}/v1` : dim("none: set OPENAI_API_KEY or ANTHROPIC_API_KEY, or --upstream")],
      ["metrics", `${url}/metrics`],
      ...(demanding ? ([["login", this.howToLogin(url, store)]] as const) : []),
      ["process", `${pid}  ${dim("Ctrl-C stops it")}`],
    ];
    const lines = places.map(([name, where]) => `  ${name.padEnd(9)}${where}\n`);
    this.terminal.write(`${bold("bursar serve")}\n\n${lines.join("")}\n`);
  }

  /** Where everybody shows a token, whoever starts the server has to know where they come from. */
  private howToLogin(url: string, store: string): string {
    const { dim, warn } = this.style;
    const at = store === "" || mayHoldLogin(store) ? "" : ` --store ${quoted(store)}`;
    const how = dim(`bursar tokens create --name <who> --role operator${at}`);
    const open = "without --tls-cert, tokens and all else can be read on the way";
    return `everybody shows a token  ${how}${IN_THE_OPEN.test(url) ? `\n           ${warn(open)}` : ""}`;
  }

  /** Says what there is to do with the run that waits. */
  demo(run: string, { url, store }: Served): void {
    const { json, quiet } = this.choice;
    if (json) this.terminal.write(`${JSON.stringify({ event: "demo", run, url: `${url}/runs/${run}` })}\n`);
    if (json || quiet) return;
    const { bold, dim } = this.style;
    const flags = { store };
    const tries: readonly (readonly [string, string])[] = [
      [`${url}/runs/${run}`, "open this, and approve it there, or"],
      [`npx ${command("approve", run, flags, null)} --detach`, "in another terminal, or"],
      [`npx bursar tui --store ${store}`, "with keys"],
      [`npx ${command("verify", run, flags, null)}`, "and then see that nobody has tampered"],
    ];
    const lines = tries.map(([what, why]) => `  ${harmless(what)}\n      ${dim(why)}\n`);
    this.terminal.write(
      `${bold("A run waits for you")}  ${run}, a Python program with a scripted model\n${lines.join("")}`,
    );
  }
}
