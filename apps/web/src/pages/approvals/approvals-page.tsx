import type { ApprovalView, Page } from "bursar/views";
import type { JSX } from "preact";
import { useResource } from "../../api/resource.js";
import { ApprovalCard } from "../../panels/approval-card.js";
import { Heading } from "../../parts/heading.js";
import { Empty, Ready } from "../../parts/states.js";
import { addressOf, queryOf } from "../../router/route.js";
import { ApproveAll } from "./approve-all.js";

const SHOWN = 25;
const STATUSES = ["pending", "approved", "denied", "expired", "withdrawn"] as const;

interface ApprovalsPageProps {
  readonly status: string;
  /** Where the page begins; empty for the newest. */
  readonly before: string;
}

export function ApprovalsPage({ status, before }: ApprovalsPageProps): JSX.Element {
  const resource = useResource<Page<ApprovalView>>(`approvals${queryOf({ status, before, limit: SHOWN })}`);
  const at = (start: string) => addressOf({ kind: "approvals", status, before: start });
  return (
    <>
      <Heading title="Approvals" />
      <nav aria-label="Status of requests" class="tabs">
        <ul>
          {STATUSES.map((each) => (
            <li key={each}>
              <a
                href={addressOf({ kind: "approvals", status: each, before: "" })}
                aria-current={each === status ? "page" : undefined}
              >
                {each}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Ready resource={resource} what="requests">
        {({ items, next }) => (
          <div class="cards">
            {items.length === 0 && (
              <Empty title={status === "pending" ? "Nothing waits for an answer." : `No request is ${status}.`}>
                <p>A run asks here when its budget does not suffice and its policy says to ask.</p>
              </Empty>
            )}
            {status === "pending" && items.length > 1 && <ApproveAll approvals={items} onDone={resource.reload} />}
            {items.map((approval) => (
              <ApprovalCard key={approval.id} approval={approval} onDecided={resource.reload} />
            ))}
            <nav class="pager" aria-label="Pages">
              {before !== "" && <a href={at("")}>Newest</a>}
              {next !== null && <a href={at(next)}>Older</a>}
            </nav>
          </div>
        )}
      </Ready>
    </>
  );
}
