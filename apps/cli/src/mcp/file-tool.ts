import { posix } from "node:path";
import { z } from "zod";
import { SESSION_ID } from "./code-schemas.js";
import { BOUNDS, type CodeSession } from "./code-sessions.js";
import { refused } from "./execution.js";
import { type Offer, type Said, ToolError } from "./said.js";
import type { Workplace } from "./workplace.js";

/** What a file of the largest size takes as base64, broken into lines. */
const LONGEST_CONTENT = BOUNDS.file_bytes * 1.5;

const INPUT = z.strictObject({
  session_id: SESSION_ID,
  action: z.enum(["list", "read", "write", "delete"]),
  path: z
    .string()
    .max(1000)
    .optional()
    .describe("Below /app: report.csv, data/in.json. For list: the folder, /app itself if absent."),
  content: z.string().max(LONGEST_CONTENT).optional().describe("What to write."),
  encoding: z
    .enum(["utf8", "base64"])
    .optional()
    .describe("Of content, to write and to read: utf8 unless it says otherwise."),
});

const OUTPUT = z.object({
  session_id: z.string(),
  action: z.string(),
  path: z.string(),
  entries: z.array(z.object({ path: z.string(), kind: z.string(), size: z.number() })).optional(),
  content: z.string().optional(),
  encoding: z.string().optional(),
  size: z.number().optional(),
});

const MOST_ENTRIES = 1000;
const HOME = "/app";

type FileWish = z.output<typeof INPUT>;

/** Offers the tool that looks at a session's files, and changes them. */
export function offerFiles(offer: Offer, workplace: Workplace): void {
  offer("session_files", {
    title: "Files of a session",
    description:
      "Lists, reads, writes or deletes files of a session of yours. Only /app is there: this touches no file of the machine. " +
      `A file may have ${BOUNDS.file_bytes} bytes here. What is written is paid for as storage_write_bytes. ` +
      "Deleting a folder deletes everything in it.",
    input: INPUT,
    output: OUTPUT,
    annotations: { openWorldHint: false },
    run: async (wish, extra) => {
      const { sessions } = workplace;
      sessions.find(wish.session_id);
      const path = pathOf(wish);
      // In its turn: what is written into a guest that is just being made anew would be gone with the old one.
      return sessions.inTurn(wish.session_id, extra.signal, (session) =>
        ACTIONS[wish.action](workplace, session, path, wish).catch((error: unknown) => {
          throw fileFault(error, wish.action, path);
        }),
      );
    },
  });
}

type FileAction = (workplace: Workplace, session: CodeSession, path: string, wish: FileWish) => Promise<Said>;

const ACTIONS: Readonly<Record<FileWish["action"], FileAction>> = {
  async list(_, { id, handle }, path) {
    const found = await handle.listFiles(path);
    const entries = found.slice(0, MOST_ENTRIES).map(({ path, kind, size }) => ({ path, kind, size }));
    const more = found.length > entries.length ? `\n… ${found.length - entries.length} more; list a folder below` : "";
    const lines = entries.map((entry) => `${entry.size}\t${entry.path}${entry.kind === "directory" ? "/" : ""}`);
    const text = entries.length === 0 ? `${path} is empty.` : `${lines.join("\n")}${more}`;
    return { structured: { session_id: id, action: "list", path, entries }, text };
  },
  async read(_, { id, handle }, path, { encoding = "utf8" }) {
    const bytes = await handle.readFile(path);
    checkSize(bytes.length, "read it in parts with execute_code.");
    const content = Buffer.from(bytes).toString(encoding);
    return {
      structured: { session_id: id, action: "read", path, content, encoding, size: bytes.length },
      text: content,
    };
  },
  async write(workplace, { id, handle }, path, { content, encoding = "utf8" }) {
    if (content === undefined) throw new ToolError("There is nothing to write.", "give content.");
    if (path === HOME) throw new ToolError("/app is a folder.", "give the path of a file below it.");
    const bytes = bytesOf(content, encoding);
    checkSize(bytes.length, "write it in parts, from a program.");
    const asked = { storage_write_bytes: bytes.length };
    const gated = await workplace.pay<null>({ capability_id: "sandbox:files", asked }, async () => {
      await handle.writeFile(path, bytes);
      return { value: null, usage: asked };
    });
    if (gated.kind === "refused") throw refused(gated.message, gated.decision);
    if (gated.kind === "failed") throw gated.error;
    const size = bytes.length;
    return { structured: { session_id: id, action: "write", path, size }, text: `${size} bytes are in ${path}.` };
  },
  async delete(_, { id, handle }, path) {
    if (path === HOME) throw new ToolError("/app itself cannot be deleted.", "use destroy_session for all of it.");
    await handle.removeFile(path);
    return { structured: { session_id: id, action: "delete", path }, text: `${path} is gone.` };
  },
};

/** The path that is meant, which never leaves `/app`: the rest of the guest's world is not for clients to change. */
function pathOf({ action, path }: FileWish): string {
  if (path === undefined || path === "") {
    if (action === "list") return HOME;
    throw new ToolError("No path is given.", "give a path below /app, such as report.csv.");
  }
  const whole = posix.resolve(HOME, path);
  const isInside = whole === HOME || whole.startsWith(`${HOME}/`);
  if (isInside && !path.includes("\0")) return whole;
  throw new ToolError(
    `${JSON.stringify(path.slice(0, 80))} is outside of /app.`,
    "files of a session are in /app; give a path below it, such as report.csv.",
  );
}

function bytesOf(content: string, encoding: "utf8" | "base64"): Buffer {
  if (encoding === "utf8") return Buffer.from(content, "utf8");
  // Nothing that the pattern repeats may fit into another part of it: it would try every way to divide what was sent.
  const plain = content.replace(/\s+/g, "");
  // What Node passes over in silence would be a file that nobody has sent.
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) throw new ToolError("content is no base64.", "encode it, or use utf8.");
  return Buffer.from(plain, "base64");
}

function checkSize(bytes: number, hint: string): void {
  if (bytes <= BOUNDS.file_bytes) return;
  throw new ToolError(`The file has ${bytes} bytes; allowed: ${BOUNDS.file_bytes}.`, hint);
}

/** What a guest's file system says is told as it is; it names nothing of the machine. */
function fileFault(error: unknown, action: string, path: string): unknown {
  if (!(error instanceof Error) || error.name !== "Error") return error;
  const message = error.message.replace(/\p{Cc}/gu, " ").slice(0, 200);
  return new ToolError(`${path}: ${action} failed: ${message}`, "list the files with action=list, and check the path.");
}
