import { toStretches } from "../durable/lines.js";
import type { Plan } from "./planner.js";
import type { Asking } from "./pool.js";

/**
 * Whether a plan whose answer was lost was carried out. A plan that keeps documents, or entries alone, has left its token,
 * because somebody else may have written the very same ones. All others have written links, whose lines stand there to the byte, in
 * every chain: a link names the one before it, the instant and the call.
 */
export async function hasLanded({ token, changes }: Plan, server: Asking): Promise<boolean> {
  if (token !== null) {
    return (await server.ask("SELECT 1 FROM plans WHERE token = $1::text::uuid", [token])).length > 0;
  }
  if (changes.chains.size === 0) return false;
  const sql = "SELECT lines FROM links WHERE chain = $1 AND seq = $2";
  for (const { head, lines } of changes.chains.values()) {
    for (const stretch of toStretches(head.seq, lines)) {
      const [row] = await server.ask(sql, [head.chain, stretch.seq]);
      if (row?.lines !== stretch.lines) return false;
    }
  }
  return true;
}
