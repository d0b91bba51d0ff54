import type { ApprovalView } from "bursar/views";
import type { ReactElement } from "react";
import { harmless } from "../render/style.js";
import { Cell, Lines, ListRow, Rule, useStyle } from "./line.js";
import { chosenId } from "./press.js";
import { expiryText, requestLines, topicOf } from "./request-lines.js";
import { shownPart } from "./scroll.js";
import type { Sight } from "./sight.js";
import type { Size, State } from "./state.js";

const TOPIC = 22;
/** In windows narrower than this, what a request is about gets less room, so that its run can be told. */
const NARROW = 60;
const NARROW_TOPIC = 12;
const LEAST_NAME = 9;
/** The list gets at most this share of the rows: the rest is for what is chosen. */
const LIST_SHARE = 0.35;
const LEAST_LIST = 2;

interface ApprovalsPanelProps {
  readonly state: State;
  readonly sight: Sight;
  readonly room: Size;
}

/** What waits for an answer, and all that is to be known of the one that is chosen. */
export function ApprovalsPanel({ state, sight, room }: ApprovalsPanelProps): ReactElement {
  const style = useStyle();
  const { requests, now, more } = sight;
  if (requests.length === 0) {
    const none = [`${style.good("✓")} nothing waits for an approval`, "", style.dim("Tab shows the runs.")];
    return <Lines indent={2} texts={["", ...none]} />;
  }
  const id = chosenId(state, "approvals", sight);
  const at = requests.findIndex((request) => request.id === id);
  const most = Math.max(LEAST_LIST, Math.floor(room.rows * LIST_SHARE));
  const { items, from } = shownPart(requests, at, Math.min(most, requests.length));
  const isWhole = items.length === requests.length && !more.requests;
  const chosen = requests[at];
  return (
    <>
      {items.map((request, index) => (
        <RequestRow
          key={request.id}
          request={request}
          isChosen={from + index === at}
          now={now}
          columns={room.columns}
        />
      ))}
      <Rule
        columns={room.columns}
        text={isWhole ? "" : style.dim(`${at + 1} of ${requests.length}${more.requests ? " and more" : ""}`)}
      />
      {chosen !== undefined && <Lines texts={requestLines(chosen, now, room.columns, style)} />}
    </>
  );
}

interface RequestRowProps {
  readonly request: ApprovalView;
  readonly isChosen: boolean;
  readonly now: number;
  readonly columns: number;
}

function RequestRow({ request, isChosen, now, columns }: RequestRowProps): ReactElement {
  const style = useStyle();
  const paint = isChosen ? style.bold : (text: string) => text;
  const expiry = request.expires > now ? `expires ${expiryText(request, now)}` : "expired";
  const subject = request.run ?? request.budget ?? request.id;
  return (
    <ListRow isChosen={isChosen}>
      <Cell width={columns < NARROW ? NARROW_TOPIC : TOPIC} text={paint(topicOf(request))} />
      <Cell leastWidth={LEAST_NAME} text={paint(harmless(subject))} />
      <Cell width={expiry.length + 2} isShrinkable text={paint(` ${expiry}`)} />
    </ListRow>
  );
}
