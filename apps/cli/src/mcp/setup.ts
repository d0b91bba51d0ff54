import { resolve } from "node:path";
import { quoted } from "../app/programs/program-needs.js";

/** The clients whose set-up is known. */
export const CLIENTS = ["claude-code", "claude-desktop", "cursor", "vscode"] as const;
export type ClientName = (typeof CLIENTS)[number];

interface StartLine {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * How a client is told to start `bursar mcp` as it was started here, with the flags that were given. A client stands elsewhere, and
 * may have another PATH, so everything is named from the root.
 */
export function setupFor(client: ClientName, args: readonly string[], own: readonly string[]): string {
  const [command = "node", ...rest] = own;
  return SETUPS[client]({ command, args: [...rest, "mcp", ...rooted(args)] });
}

const SETUPS: Readonly<Record<ClientName, (line: StartLine) => string>> = {
  "claude-code": ({ command, args }) => `claude mcp add bursar -- ${[command, ...args].map(quoted).join(" ")}\n`,
  "claude-desktop": (line) =>
    `In Claude Desktop: Settings, Developer, Edit Config (claude_desktop_config.json); add:\n${servers(line)}`,
  cursor: (line) => {
    const config = Buffer.from(JSON.stringify(line)).toString("base64");
    const link = `cursor://anysphere.cursor-deeplink/mcp/install?name=bursar&config=${encodeURIComponent(config)}`;
    return `Open this link, or add the lines below to ~/.cursor/mcp.json:\n${link}\n${servers(line)}`;
  },
  vscode: (line) => `code --add-mcp ${quoted(JSON.stringify({ name: "bursar", ...line }))}\n`,
};

function servers(line: StartLine): string {
  return `${JSON.stringify({ mcpServers: { bursar: line } }, null, 2)}\n`;
}

const FILES: ReadonlySet<string> = new Set(["--module", "--program", "--config", "--store"]);

/** Flags with files named from the root, and without the one that asked for all this. */
function rooted(args: readonly string[]): readonly string[] {
  const words = args.flatMap((word) => {
    const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
    return flag === undefined || value === undefined ? [word] : [flag, value];
  });
  return words.flatMap((word, index) => {
    const before = words[index - 1] ?? "";
    if (word === "--setup" || before === "--setup" || word === "--json") return [];
    return [FILES.has(before) ? fromRoot(before, word) : word];
  });
}

function fromRoot(flag: string, value: string): string {
  if (flag !== "--store") return resolve(value);
  const [, file] = /^sqlite:(?!\/\/)(.+)$/s.exec(value) ?? [];
  return file === undefined ? value : `sqlite:${resolve(file)}`;
}
