import type { JSX } from "preact";
import { formatInstant } from "../../format/time.js";
import { TextBlock } from "../../parts/json.js";
import { readLink } from "./links-table.js";
import { summaryOf } from "./summary.js";

interface LinkDetailProps {
  readonly line: string;
  /** Goes to another link of this chain. */
  readonly onGo: (seq: number) => void;
}

/** Everything a link says, and what it is tied to. */
export function LinkDetail({ line, onGo }: LinkDetailProps): JSX.Element {
  const link = readLink(line);
  if (link === null) return <TextBlock text={line} label="A line that is no link" />;
  const { id, event, action_type, at, cause, chain, hash, prev, data } = link;
  const here = cause?.startsWith(`${chain}#`) ? Number(cause.slice(chain.length + 1)) : null;
  return (
    <div class="link-detail">
      <h2>{event ?? action_type}</h2>
      <p>{summaryOf(link)}</p>
      <dl class="facts facts-stacked">
        <div>
          <dt>Id</dt>
          <dd>{id}</dd>
        </div>
        <div>
          <dt>Time</dt>
          <dd>{formatInstant(at)}</dd>
        </div>
        <div>
          <dt>Cause</dt>
          <dd>
            {cause ?? "none recorded"}{" "}
            {here !== null && (
              <button type="button" class="button button-small" onClick={() => onGo(here)}>
                go there
              </button>
            )}
          </dd>
        </div>
        <div>
          <dt>Hash</dt>
          <dd class="hash">{hash}</dd>
        </div>
        <div>
          <dt>Previous hash</dt>
          <dd class="hash">{prev}</dd>
        </div>
      </dl>
      <TextBlock text={JSON.stringify(data, null, 2)} label="Data of the link" />
    </div>
  );
}
