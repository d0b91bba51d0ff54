import type { RunRow } from "bursar/views";
import type { ReactElement } from "react";
import { bar } from "../render/bars.js";
import { shareOf } from "../render/dimension-lines.js";
import { statusText } from "../render/run.js";
import { costText, shortSpan } from "../render/run-table.js";
import { harmless } from "../render/style.js";
import { Cell, Line, ListRow, useStyle } from "./line.js";
import { chosenId } from "./press.js";
import { shownPart } from "./scroll.js";
import type { Sight } from "./sight.js";
import type { Size, State } from "./state.js";

const STATUS = 12;
/** One word is longer than all others, and rare. */
const LONGEST_STATUS = 14;
const AGE = 5;
const COST = 9;
const BAR = 12;
const FIGURES = 32;
const LONGEST_ID = 26;
/** Windows narrower than these lose the figures, then the bars. */
const FIGURES_FROM = 102;
const BARS_FROM = 66;

interface RunsPanelProps {
  readonly state: State;
  readonly sight: Sight;
  readonly room: Size;
}

/** The latest runs, each with the limit that is nearest. */
export function RunsPanel({ state, sight, room }: RunsPanelProps): ReactElement {
  const style = useStyle();
  const { runs, now, more } = sight;
  if (runs.length === 0) {
    return (
      <>
        <Line text="" />
        <Line indent={2} text={style.dim("no runs yet; `bursar run` starts one")} />
      </>
    );
  }
  const id = chosenId(state, "runs", sight);
  const at = runs.findIndex((run) => run.id === id);
  const widths: Widths = {
    status: runs.some(({ interrupted }) => interrupted) ? LONGEST_STATUS : STATUS,
    id: Math.min(LONGEST_ID, Math.max(...runs.map((run) => run.id.length))) + 1,
    cost: Math.max(COST, ...runs.map((run) => costText(run).length + 1)),
    bar: room.columns < BARS_FROM ? 0 : BAR + 1,
    figures: room.columns < FIGURES_FROM ? 0 : FIGURES,
  };
  const { items, from } = shownPart(runs, at, Math.max(1, room.rows - 1));
  const last = from + items.length;
  const place = `${from + 1} to ${last} of ${runs.length}${more.runs ? "; there are more, see `bursar runs`" : ""}`;
  return (
    <>
      {items.map((run, index) => (
        <RunLine key={run.id} run={run} isChosen={from + index === at} now={now} widths={widths} />
      ))}
      {(items.length < runs.length || more.runs) && <Line indent={2} text={style.dim(place)} />}
    </>
  );
}

/** The columns of the list; 0 leaves a column out. */
interface Widths {
  readonly status: number;
  readonly id: number;
  readonly cost: number;
  readonly bar: number;
  readonly figures: number;
}

interface RunLineProps {
  readonly run: RunRow;
  readonly isChosen: boolean;
  readonly now: number;
  readonly widths: Widths;
}

function RunLine({ run, isChosen, now, widths }: RunLineProps): ReactElement {
  const style = useStyle();
  const { tightest } = run;
  return (
    <ListRow isChosen={isChosen}>
      <Cell
        width={widths.status}
        text={statusText(run.denied === null ? run.status : "denied", style, run.interrupted)}
      />
      <Cell width={widths.id} text={harmless(run.id)} />
      <Cell width={AGE} text={style.dim(shortSpan(Math.max(0, now - run.created)))} />
      <Cell width={widths.cost} text={costText(run)} />
      {widths.bar > 0 && <Cell width={widths.bar} text={tightest === null ? "" : bar(tightest, BAR, style)} />}
      {widths.figures > 0 && <Cell width={widths.figures} text={tightest === null ? "" : shareOf(tightest)} />}
      <Cell text={harmless(run.program.name)} />
    </ListRow>
  );
}
