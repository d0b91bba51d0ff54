import type { ApprovalView } from "bursar/views";
import type { JSX } from "preact";
import { useResource } from "../../api/resource.js";
import { ApprovalCard } from "../../panels/approval-card.js";
import { Heading } from "../../parts/heading.js";
import { Ready } from "../../parts/states.js";

/** One request, for whoever was sent its address. */
export function ApprovalPage({ id }: { readonly id: string }): JSX.Element {
  const resource = useResource<ApprovalView>(
    `approvals/${encodeURIComponent(id)}`,
    (change) => change?.approvals.includes(id) ?? true,
  );
  return (
    <>
      <Heading title="Request" tab={`Request ${id}`}>
        <a href="/approvals">All requests</a>
      </Heading>
      <Ready resource={resource} what="the request">
        {(approval) => (
          <div class="cards">
            <ApprovalCard approval={approval} onDecided={(answer) => resource.replace(answer.approval)} />
          </div>
        )}
      </Ready>
    </>
  );
}
