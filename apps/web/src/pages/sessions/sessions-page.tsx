import type { SessionView } from "bursar/views";
import type { JSX } from "preact";
import { useResource } from "../../api/resource.js";
import type { SandboxSessionView } from "../../api/shapes.js";
import { BudgetTable } from "../../panels/budget-tree.js";
import { Heading } from "../../parts/heading.js";
import { Empty, Ready } from "../../parts/states.js";
import { ALL_RUNS, addressOf } from "../../router/route.js";
import { SandboxTable } from "./sandbox-table.js";

interface Sessions {
  readonly budgets: readonly SessionView[];
  readonly sandbox: readonly SandboxSessionView[];
}

/** What runs share: budgets, and sandboxes that are kept. */
export function SessionsPage(): JSX.Element {
  const resource = useResource<Sessions>("sessions");
  return (
    <>
      <Heading title="Sessions" />
      <Ready resource={resource} what="the sessions">
        {({ budgets, sandbox }) => (
          <>
            <section aria-labelledby="session-budgets">
              <h2 id="session-budgets">Budgets that runs share</h2>
              {budgets.length === 0 && (
                <Empty title="No session has had a run yet.">
                  <p>
                    Start a run with <code>bursar run --session name --session-budget cost_usd=5</code>, and others with
                    the same name share that budget.
                  </p>
                </Empty>
              )}
              {budgets.map((each) => (
                <Session key={each.session} view={each} />
              ))}
            </section>
            <section aria-labelledby="sandboxes">
              <h2 id="sandboxes">Sandbox sessions</h2>
              <SandboxTable sessions={sandbox} reload={resource.reload} />
            </section>
          </>
        )}
      </Ready>
    </>
  );
}

function Session({ view: { session, budget, runs, active } }: { readonly view: SessionView }): JSX.Element {
  return (
    <div class="panel">
      <div class="section-head">
        <h3>{session}</h3>
        <span class="links-beside">
          <a href={addressOf({ kind: "runs", filter: { ...ALL_RUNS, session } })}>
            {runs} {runs === 1 ? "run" : "runs"}, {active} not ended
          </a>
          <a href={addressOf({ kind: "budget-chain", id: budget.budget })} aria-label={`Causal chain of ${session}`}>
            Causal chain
          </a>
        </span>
      </div>
      <BudgetTable view={budget} title="Budget" />
    </div>
  );
}
