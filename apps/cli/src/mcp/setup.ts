import { quoted } from "../runs/needs.js";

/** The clients whose set-up is known. */
export const CLIENTS = ["claude-code", "claude-desktop", "cursor", "vscode"] as const;
export type ClientName = (typeof CLIENTS)[number];

interface Invocation {
  readonly command: string;
  readonly args: readonly string[];
}

/** How a client is told to start `bursar mcp`, with the flags that were given here. */
export function setupFor(client: ClientName, args: readonly string[]): string {
  const invocation: Invocation = { command: "npx", args: ["-y", "@bursar/cli", "mcp", ...args] };
  return SETUPS[client](invocation);
}

const SETUPS: Readonly<Record<ClientName, (invocation: Invocation) => string>> = {
  "claude-code": ({ command, args }) => `claude mcp add bursar -- ${[command, ...args].map(quoted).join(" ")}\n`,
  "claude-desktop": (invocation) =>
    `In Claude Desktop: Settings, Developer, Edit Config (claude_desktop_config.json); add:\n${servers(invocation)}`,
  cursor: (invocation) => {
    const config = Buffer.from(JSON.stringify(invocation)).toString("base64");
    const link = `cursor://anysphere.cursor-deeplink/mcp/install?name=bursar&config=${encodeURIComponent(config)}`;
    return `Open this link, or add the lines below to ~/.cursor/mcp.json:\n${link}\n${servers(invocation)}`;
  },
  vscode: (invocation) => `code --add-mcp ${quoted(JSON.stringify({ name: "bursar", ...invocation }))}\n`,
};

function servers(invocation: Invocation): string {
  return `${JSON.stringify({ mcpServers: { bursar: invocation } }, null, 2)}\n`;
}
