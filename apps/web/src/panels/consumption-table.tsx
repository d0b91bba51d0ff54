import type { JsonObject } from "bursar/chain";
import type { JSX } from "preact";
import { percentOf } from "../format/amount.js";
import { inOrder, labelOf } from "../format/dimension.js";
import { Amount } from "../parts/amount.js";
import { Bar } from "../parts/bar.js";

interface ConsumptionTableProps {
  readonly consumed: JsonObject;
  readonly held: JsonObject;
  readonly limits: JsonObject;
  readonly exhausted: string | null;
}

/** Consumption against limits, as it stood when the question was asked. */
export function ConsumptionTable({ consumed, held, limits, exhausted }: ConsumptionTableProps): JSX.Element {
  const limited = Object.keys(limits).filter((dimension) => typeof limits[dimension] === "number");
  const isTelling = (dimension: string) =>
    dimension === exhausted || numberOf(consumed[dimension]) > 0 || numberOf(held[dimension]) > 0;
  const rows = inOrder(limited.filter(isTelling), (dimension) => dimension);
  const unused = limited.filter((dimension) => !isTelling(dimension));
  // Mostly nothing is held, and then phones need not find room for it.
  const isHeld = rows.some((dimension) => numberOf(held[dimension]) > 0);
  return (
    <div>
      <table class="amounts">
        <caption>{isHeld ? "Used and held" : "Used"}, against limits, when it was asked</caption>
        <thead>
          <tr>
            <th scope="col">Dimension</th>
            <th scope="col" class="wide-only">
              <span class="unseen">Share</span>
            </th>
            <th scope="col" class="number">
              Used
            </th>
            {isHeld && (
              <th scope="col" class="number">
                Held
              </th>
            )}
            <th scope="col" class="number">
              Limit
            </th>
            <th scope="col" class="number">
              %
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((dimension) => (
            <Row
              key={dimension}
              dimension={dimension}
              used={numberOf(consumed[dimension])}
              held={numberOf(held[dimension])}
              showsHeld={isHeld}
              limit={numberOf(limits[dimension])}
              exhausted={dimension === exhausted}
            />
          ))}
        </tbody>
      </table>
      {unused.length > 0 && (
        <p class="note">Nothing used of: {unused.map((dimension) => labelOf(dimension).toLowerCase()).join(", ")}.</p>
      )}
    </div>
  );
}

interface RowProps {
  readonly dimension: string;
  readonly used: number;
  readonly held: number;
  readonly showsHeld: boolean;
  readonly limit: number;
  readonly exhausted: boolean;
}

function Row({ dimension, used, held, showsHeld, limit, exhausted }: RowProps): JSX.Element {
  return (
    <tr class={exhausted ? "exhausted" : ""}>
      <th scope="row">
        {labelOf(dimension)}
        {exhausted && <span class="tag">asked for</span>}
      </th>
      <td class="wide-only bar-cell">
        <Bar dimension={dimension} used={used} held={held} limit={limit} />
      </td>
      <td class="number">
        <Amount dimension={dimension} value={used} />
      </td>
      {showsHeld && (
        <td class="number">
          <Amount dimension={dimension} value={held} />
        </td>
      )}
      <td class="number">
        <Amount dimension={dimension} value={limit} />
      </td>
      <td class="number">{percentOf(used, limit)}</td>
    </tr>
  );
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
