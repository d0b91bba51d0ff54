import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type {
  CallToolResult,
  ServerNotification,
  ServerRequest,
  ToolAnnotations,
} from "@modelcontextprotocol/sdk/types.js";
import { BursarError } from "bursar";
import type { z } from "zod";
import { isSandboxFault } from "../app/sandbox-fault.js";

/** What a tool answers: for programs, and for a model to read. */
export interface Said {
  readonly structured: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** The same answer with a further word for whoever reads it. */
export function noted({ structured, text }: Said, note: string | null): Said {
  return { structured, text: note === null ? text : `${text}\n${note}` };
}

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Something that a client did wrongly, or that is not there, and what to do now. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** A tool, before it is offered. */
interface ToolPlan<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly annotations?: ToolAnnotations;
  readonly run: (args: z.output<Input>, extra: Extra) => Promise<Said>;
}

export type Offer = <Input extends z.ZodObject, Output extends z.ZodObject>(
  name: string,
  plan: ToolPlan<Input, Output>,
) => void;

/** Offers tools whose failures are answers: what happened and what to do, never where in our code. */
export function offering(server: McpServer, onError: (error: unknown) => void): Offer {
  return (name, { title, description, input, output, annotations = {}, run }) => {
    const config = { title, description, inputSchema: input, outputSchema: output, annotations };
    const answer = async (args: unknown, extra: unknown): Promise<CallToolResult> => {
      try {
        const { structured, text } = await run(args as z.output<typeof input>, extra as Extra);
        return { structuredContent: { ...structured }, content: [{ type: "text", text }] };
      } catch (error) {
        return { isError: true, content: [{ type: "text", text: explained(error, onError) }] };
      }
    };
    // The types of the SDK follow a schema through three layers, which takes the compiler longer than all of this file.
    server.registerTool(name, config as never, answer as never);
  };
}

/** What a client is told of a failure. */
function explained(error: unknown, onError: (error: unknown) => void): string {
  if (error instanceof ToolError) return `${error.message}\nWhat to do: ${error.hint}`;
  if (error instanceof BursarError || isSandboxFault(error)) return error.message;
  if (error instanceof Error && error.name === "AbortError") return "It was cancelled, and nothing more is done.";
  onError(error);
  return "Something failed inside of Bursar, and was told to its operator.\nWhat to do: try once more; if it fails again, tell the user.";
}
