import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "bursar";
import { OWNER } from "bursar/server";
import { openMcpHandler } from "../mcp/http-handler.js";
import { mcpSettings, type SettingsParts } from "../mcp/settings.js";

export interface MountedMcp extends AsyncDisposable {
  readonly handle: (incoming: IncomingMessage, response: ServerResponse, principal: Principal) => Promise<void>;
}

interface MountOptions extends SettingsParts {
  /** Where the server is found. */
  readonly address: () => string;
}

/** MCP for the clients of a server. */
export async function mountMcp({ address, ...parts }: MountOptions): Promise<MountedMcp> {
  const handler = openMcpHandler({
    ...(await mcpSettings(parts)),
    // A worker is told of it by the store.
    queued: () => {},
    // The server drives the run: whoever says yes need not have its tools and its model.
    commandLine: (name, id) => `${parts.commandLine(name, id)}${name === "show" ? "" : " --detach"}`,
    approvalUrl: (id) => `${address()}/approvals/${encodeURIComponent(id)}`,
  });
  return {
    handle: (incoming, response, principal) =>
      handler.handle(incoming, response, clientOf(incoming.url ?? "", principal)),
    [Symbol.asyncDispose]: () => handler[Symbol.asyncDispose](),
  };
}

/**
 * A model is at the other end, and must not be let decide over its own requests because nobody has to log in here: where a connection
 * may do more, its address has to say `?role=operator`, which is up to whoever sets the client up. A token says it by itself.
 */
export function clientOf(url: string, principal: Principal): Principal {
  const isKnown = principal.name !== OWNER.name || principal.role !== OWNER.role;
  return isKnown || /[?&]role=operator(?:&|$)/.test(url) ? principal : { name: "agent", role: "agent" };
}
