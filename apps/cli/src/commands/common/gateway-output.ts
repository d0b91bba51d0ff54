import type { JsonObject } from "bursar";
import type { Gateway, Served, UpstreamOptions } from "bursar/gateway";
import type { ConfigReport } from "../../app/config-report.js";
import { runFigures } from "../../render/run-figures.js";
import { clip, fitted, harmless, pad } from "../../render/style.js";
import { ServiceOutput } from "./service-output.js";

const MODEL_COLUMNS = 24;
const LABEL_COLUMNS = 16;

/** What a gateway says: where it is, a line for each request, and what went wrong. */
export class GatewayTelling extends ServiceOutput {
  /** Says where it listens, and what clients need to find it. */
  begin(
    { url }: Gateway,
    upstreams: readonly UpstreamOptions[],
    budget: string | null,
    configuration: { readonly configuration?: ConfigReport },
  ): void {
    const { json, quiet } = this.choice;
    if (json) {
      const shown = upstreams.map(({ name, url, key }) => ({ name, url, has_key: key !== undefined }));
      this.terminal.write(
        `${JSON.stringify({ event: "listening", url, upstreams: shown, budget, ...configuration })}\n`,
      );
      return;
    }
    if (quiet) return;
    const { bold, dim, warn } = this.style;
    const lines = [`${bold("bursar gateway")}  ${url}`, ""];
    for (const { name, url: to, key } of upstreams) {
      lines.push(`  ${pad(harmless(name), 12)}${harmless(to)}${key === undefined ? warn("  no key") : ""}`);
    }
    if (budget !== null)
      lines.push(`  ${pad("budget", 12)}${harmless(budget)}${dim("  for programs of this machine")}`);
    const secret = budget === null ? "bursar_…" : "none";
    const speaks = (home: "openai" | "anthropic") => upstreams.some(({ speaks = [home] }) => speaks.includes(home));
    const exports: string[] = [];
    if (speaks("openai")) exports.push(`OPENAI_BASE_URL=${url}/v1`, `OPENAI_API_KEY=${secret}`);
    if (speaks("anthropic")) exports.push(`ANTHROPIC_BASE_URL=${url}`, `ANTHROPIC_API_KEY=${secret}`);
    lines.push("", dim("  for clients:"), ...exports.map((line) => `  export ${line}`));
    if (budget === null) lines.push(dim("  with a key of: bursar keys create --limits cost_usd=5"));
    this.terminal.write(`${lines.join("\n")}\n\n`);
  }

  served(served: Served): void {
    if (this.choice.json) this.terminal.write(`${JSON.stringify({ event: "served", ...served })}\n`);
    else if (!this.choice.quiet) this.terminal.write(`${this.line(served)}\n`);
  }

  private line({ status, method, path, model, label, key_id, ...rest }: Served): string {
    const { good, warn, bad, dim } = this.style;
    const paint = status === 0 || status >= 500 ? bad : status >= 400 ? warn : good;
    const what = model ?? `${method} ${path}`;
    const whose = label || key_id || "";
    const { cost_usd, llm_tokens } = rest.charged;
    const charged: JsonObject = {
      ...(cost_usd !== undefined && { cost_usd }),
      ...(llm_tokens !== undefined && { llm_tokens }),
    };
    const figures = `${rest.estimated ? "at most " : ""}${runFigures(charged)}`;
    const why = rest.refused ?? rest.failed;
    const columns = this.terminal.columns();
    const parts = [
      paint(status === 0 ? "left" : ` ${status}`),
      pad(fitted(harmless(what), MODEL_COLUMNS, columns), MODEL_COLUMNS),
      pad(fitted(harmless(whose), LABEL_COLUMNS, columns), LABEL_COLUMNS),
      why === null ? figures : [harmless(why), ...(Object.keys(charged).length > 0 ? [figures] : [])].join(", "),
      dim(`${rest.duration_ms} ms`),
    ];
    return clip(parts.join("  "), columns);
  }
}
