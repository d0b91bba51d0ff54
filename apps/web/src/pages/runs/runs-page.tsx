import type { Page, RunRow } from "bursar/views";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useResource } from "../../api/resource.js";
import { RunsTable } from "../../panels/runs-table.js";
import { StartLink } from "../../panels/start-link.js";
import { Heading } from "../../parts/heading.js";
import { Empty, Ready } from "../../parts/states.js";
import { navigate } from "../../router/navigation.js";
import { ALL_RUNS, addressOf, queryOf, type RunFilter } from "../../router/route.js";

const SHOWN = 50;
const TYPING_MS = 250;
const STATUSES = ["queued", "running", "paused", "completed", "failed", "cancelled"] as const;

/** All runs, newest first, a page at a time: what is in the address is what is shown. */
export function RunsPage({ filter }: { readonly filter: RunFilter }): JSX.Element {
  const resource = useResource<Page<RunRow>>(`runs${queryOf({ ...filter, limit: SHOWN })}`);
  return (
    <>
      <Heading title="Runs">
        <StartLink />
      </Heading>
      <Filter filter={filter} />
      <Ready resource={resource} what="runs">
        {({ items, next }) => (
          <>
            {items.length === 0 && next !== null && (
              <Empty title="None among those looked through so far; go on with Older." />
            )}
            {items.length === 0 && next === null && <NoRuns filter={filter} />}
            {items.length > 0 && <RunsTable caption="Runs, newest first" runs={items} />}
            <nav class="pager" aria-label="Pages">
              {filter.before !== "" && (
                <a href={addressOf({ kind: "runs", filter: { ...filter, before: "" } })}>Newest</a>
              )}
              {next !== null && <a href={addressOf({ kind: "runs", filter: { ...filter, before: next } })}>Older</a>}
            </nav>
          </>
        )}
      </Ready>
    </>
  );
}

/** The words in the field: they are looked for when nobody has typed for a moment, and follow the address. */
function useWords(given: string, seek: (words: string) => void): readonly [string, (words: string) => void] {
  const [text, setText] = useState(given);
  // What is chosen while a word waits to be looked for stays chosen.
  const latest = useRef(seek);
  latest.current = seek;
  const sought = useRef(given);
  // Another address, as from a link or from the browser's Back, comes with its own words; those typed here are there already.
  useEffect(() => {
    if (given !== sought.current) setText(given);
    sought.current = given;
  }, [given]);
  useEffect(() => {
    if (text === given) return;
    const timer = setTimeout(() => {
      sought.current = text;
      latest.current(text);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}

function Filter({ filter }: { readonly filter: RunFilter }): JSX.Element {
  const change = (part: Partial<RunFilter>) =>
    navigate(addressOf({ kind: "runs", filter: { ...filter, before: "", ...part } }), "replace");
  const [text, setText] = useWords(filter.text, (words) => change({ text: words }));
  return (
    <search class="filter">
      <label class="field">
        <span>Search</span>
        <input
          type="search"
          data-search
          placeholder="program, id"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Status</span>
        <select value={filter.status} onChange={(event) => change({ status: event.currentTarget.value })}>
          <option value="">all</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {status}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          // Words are looked for in all of them.
          checked={filter.children === "true" || filter.text !== ""}
          disabled={filter.text !== ""}
          onChange={(event) => change({ children: event.currentTarget.checked ? "true" : "" })}
        />
        Child runs too
      </label>
      {filter.session !== "" && (
        <p class="chosen">
          Session <strong>{filter.session}</strong>{" "}
          <button type="button" class="button button-small" onClick={() => change({ session: "" })}>
            all sessions
          </button>
        </p>
      )}
    </search>
  );
}

function NoRuns({ filter }: { readonly filter: RunFilter }): JSX.Element {
  const all = Object.values(filter).every((value) => value === "");
  if (!all) {
    return (
      <Empty title="No run fits.">
        <p>
          <a href={addressOf({ kind: "runs", filter: ALL_RUNS })}>Show all runs</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="There are no runs yet.">
      <p>
        Start one with <code>bursar run</code>, with <code>POST /api/v1/runs</code>, or from your own program.
      </p>
    </Empty>
  );
}
