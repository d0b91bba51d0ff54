import { type Link, parseLine } from "bursar/chain";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatClock } from "../../format/time.js";
import { Problem } from "../../parts/states.js";
import { useLines } from "./lines.js";
import { summaryOf } from "./summary.js";
import { visibleRows } from "./visible.js";

const ROW_PX = 36;

interface LinksTableProps {
  /** Where the API has the chain. */
  readonly path: string;
  readonly total: number;
  readonly selected: number | null;
  readonly onSelect: (seq: number, line: string) => void;
  /** A link to bring into sight. */
  readonly target: { readonly seq: number } | null;
}

/** A chain of any length: only the rows in sight are in the document, and only their pages are read. */
export function LinksTable({ path, total, selected, onSelect, target }: LinksTableProps): JSX.Element {
  const box = useRef<HTMLElement>(null);
  const [place, setPlace] = useState({ scrolled: 0, height: 0 });
  const { at, want, error } = useLines(path);
  const { first, end } = visibleRows(place.scrolled, place.height, ROW_PX, total);
  useEffect(() => want(first, end), [want, first, end]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setPlace({ scrolled: element.scrollTop, height: element.clientHeight });
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  useEffect(() => {
    if (target !== null) box.current?.scrollTo({ top: Math.max(0, target.seq - 2) * ROW_PX });
  }, [target]);
  const rows = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
  return (
    <>
      {error !== null && <Problem error={error} retry={() => want(first, end)} />}
      <section
        ref={box}
        class="links"
        aria-label="Links of the chain"
        onScroll={({ currentTarget: { scrollTop, clientHeight } }) =>
          setPlace({ scrolled: scrollTop, height: clientHeight })
        }
      >
        <table aria-rowcount={total + 1}>
          <thead>
            <tr aria-rowindex={1}>
              <th scope="col" class="number">
                Link
              </th>
              <th scope="col">Action</th>
              <th scope="col" class="wide-only">
                What
              </th>
              <th scope="col" class="wide-only">
                Time
              </th>
              <th scope="col" class="wide-only">
                Hash
              </th>
            </tr>
          </thead>
          <tbody>
            <Gap rows={first} />
            {rows.map((seq) => (
              <Row key={seq} seq={seq} line={at(seq)} selected={seq === selected} onSelect={onSelect} />
            ))}
            <Gap rows={total - end} />
          </tbody>
        </table>
      </section>
    </>
  );
}

/** As tall as the rows that are not there; of one cell, for a phone has fewer columns. */
function Gap({ rows }: { readonly rows: number }): JSX.Element | null {
  if (rows <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row of a table takes no focus
    <tr aria-hidden="true" class="gap">
      <td style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );
}

interface RowProps {
  readonly seq: number;
  readonly line: string | undefined;
  readonly selected: boolean;
  readonly onSelect: (seq: number, line: string) => void;
}

function Row({ seq, line, selected, onSelect }: RowProps): JSX.Element {
  const link = line === undefined ? null : readLink(line);
  const name = link === null ? (line === undefined ? "…" : "not a link") : (link.event ?? link.action_type);
  return (
    <tr aria-rowindex={seq + 2} class={selected ? "selected" : ""}>
      <td class="number">{seq}</td>
      <th scope="row">
        <button
          type="button"
          class="row-button"
          data-item
          aria-pressed={selected}
          disabled={line === undefined}
          onClick={() => line !== undefined && onSelect(seq, line)}
        >
          {name}
        </button>
      </th>
      <td class="wide-only summary">{link === null ? "" : summaryOf(link)}</td>
      <td class="wide-only">{link === null ? "" : formatClock(link.at)}</td>
      <td class="wide-only hash">{link === null ? "" : link.hash.slice(0, 12)}</td>
    </tr>
  );
}

/** What is no link is shown as such, so that a reader sees where a chain was tampered with. */
export function readLink(line: string): Link | null {
  try {
    return parseLine(line);
  } catch {
    return null;
  }
}
