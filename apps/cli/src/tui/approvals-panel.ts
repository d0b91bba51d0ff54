import type { ApprovalView } from "bursar/views";
import { clip, harmless, pad, type Style } from "../render/style.js";
import { chosenId } from "./press.js";
import { expiryText, requestLines, topicOf } from "./request-lines.js";
import { shownPart } from "./scroll.js";
import type { Sight } from "./sight.js";
import type { State } from "./state.js";

const TOPIC = 22;
/** The list gets at most this share of the rows: the rest is for what is chosen. */
const LIST_SHARE = 0.35;
const LEAST_LIST = 2;

/** What waits for an answer, and all that is to be known of the one that is chosen. */
export function approvalsPanel(
  state: State,
  sight: Sight,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  style: Style,
): readonly string[] {
  const { requests, now, more } = sight;
  if (requests.length === 0) {
    return ["", `  ${style.good("✓")} nothing waits for an approval`, "", style.dim("  Tab shows the runs.")];
  }
  const id = chosenId(state, "approvals", sight);
  const at = requests.findIndex((request) => request.id === id);
  const most = Math.max(LEAST_LIST, Math.floor(rows * LIST_SHARE));
  const { items, from } = shownPart(requests, at, Math.min(most, requests.length));
  const list = items.map((request, index) => rowText(request, from + index === at, now, columns, style));
  const hidden = requests.length - items.length;
  const place = `${at + 1} of ${requests.length}${more.requests ? " and more" : ""}`;
  const rule = hidden === 0 && !more.requests ? "" : ` ${place} `;
  const chosen = requests[at];
  const details = chosen === undefined ? [] : requestLines(chosen, now, columns, style);
  return [...list, style.dim(`──${rule}${"─".repeat(Math.max(0, columns - 2 - rule.length))}`), ...details];
}

function rowText(request: ApprovalView, isChosen: boolean, now: number, columns: number, style: Style): string {
  const expiry = request.expires > now ? `expires ${expiryText(request, now)}` : "expired";
  const room = Math.max(8, columns - 2 - TOPIC - expiry.length - 2);
  const subject = request.run ?? request.budget ?? request.id;
  const topic = pad(clip(topicOf(request), TOPIC - 2), TOPIC);
  const name = pad(clip(harmless(subject), room), room + 2);
  const text = clip(`${topic}${name}${expiry}`, columns - 2);
  return isChosen ? `${style.accent("❯")} ${style.bold(text)}` : `  ${text}`;
}
