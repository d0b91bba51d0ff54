import { Box } from "ink";
import type { ReactElement } from "react";
import { Cell, Line, useStyle } from "./line.js";

const KEYS: readonly (readonly [string, string])[] = [
  ["↑ ↓  j k", "choose; on a run's page, go back and forth"],
  ["Enter", "the run's page; Esc leaves it"],
  ["Tab  1 2", "approvals, runs; on a page: steps, chain"],
  ["a", "approve: amounts can be edited first, Enter decides"],
  ["d", "deny, with a reason"],
  ["r", "resume a run; what has expired is asked anew"],
  ["c", "cancel a run"],
  ["PgUp PgDn Home End", "further"],
  ["Ctrl-L", "draw the screen anew"],
  ["q", "quit; Ctrl-C at once"],
];

/** All keys, on one screen. */
export function HelpPanel(): ReactElement {
  const style = useStyle();
  return (
    <>
      {KEYS.map(([key, what]) => (
        <Box key={key} height={1} flexShrink={0} paddingLeft={2}>
          <Cell width={20} text={style.bold(key)} />
          <Cell text={what} />
        </Box>
      ))}
      <Line text="" />
      <Line indent={2} text={style.dim("Bars: █ used  ▒ held for calls under way  ░ free.")} />
    </>
  );
}
