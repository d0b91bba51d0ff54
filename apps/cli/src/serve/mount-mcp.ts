import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "bursar";
import { OWNER } from "bursar/server";
import type { McpHandler } from "../mcp/http-handler.js";
import type { SettingsParts } from "../mcp/settings.js";

export interface MountedMcp extends AsyncDisposable {
  readonly handle: (incoming: IncomingMessage, response: ServerResponse, principal: Principal) => Promise<void>;
}

interface MountOptions extends SettingsParts {
  /** Where the server is found. */
  readonly address: () => string;
}

/** MCP for the clients of a server. The protocol is loaded with the first request: it takes as long to load as the whole server. */
export function mountMcp(options: MountOptions): MountedMcp {
  let opening: Promise<McpHandler> | null = null;
  let isClosed = false;
  return {
    async handle(incoming, response, principal) {
      if (isClosed) {
        response.writeHead(503, { connection: "close" }).end();
        return;
      }
      opening ??= openHandler(options);
      const handler = await opening;
      await handler.handle(incoming, response, clientOf(incoming.url ?? "", principal));
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      const handler = await opening?.catch(() => null);
      await handler?.[Symbol.asyncDispose]();
    },
  };
}

async function openHandler({ address, ...parts }: MountOptions): Promise<McpHandler> {
  const { openMcpHandler } = await import("../mcp/http-handler.js");
  const { mcpSettings } = await import("../mcp/settings.js");
  return openMcpHandler({
    ...(await mcpSettings(parts)),
    // A worker is told of it by the store.
    queued: () => {},
    // The server drives the run: whoever says yes need not have its tools and its model.
    commandLine: (name, id) => `${parts.commandLine(name, id)}${name === "show" ? "" : " --detach"}`,
    approvalUrl: (id) => `${address()}/approvals/${encodeURIComponent(id)}`,
  });
}

/**
 * A model is at the other end, and must not be let decide over its own requests because nobody has to log in here: where a connection
 * may do more, its address has to say `?role=operator`, which is up to whoever sets the client up. A token says it by itself.
 */
export function clientOf(url: string, principal: Principal): Principal {
  const isKnown = principal.name !== OWNER.name || principal.role !== OWNER.role;
  return isKnown || /[?&]role=operator(?:&|$)/.test(url) ? principal : { name: "agent", role: "agent" };
}
