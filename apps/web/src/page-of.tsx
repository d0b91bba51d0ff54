import type { JSX } from "preact";
import { ApprovalPage } from "./approvals/approval-page.js";
import { ApprovalsPage } from "./approvals/approvals-page.js";
import { BudgetChainPage } from "./chain/budget-chain-page.js";
import { RunChainPage } from "./chain/run-chain-page.js";
import { VerifyPage } from "./chain/verify-page.js";
import { ConfigPage } from "./config/config-page.js";
import { KeysPage } from "./keys/keys-page.js";
import { OverviewPage } from "./overview/overview-page.js";
import { Heading } from "./parts/heading.js";
import { Empty } from "./parts/states.js";
import type { Route } from "./router/route.js";
import { RunPage } from "./run/run-page.js";
import { RunsPage } from "./runs/runs-page.js";
import { SessionsPage } from "./sessions/sessions-page.js";
import { StartPage } from "./start/start-page.js";
import { TokensPage } from "./tokens/tokens-page.js";

/** The page for a route; a key makes another run another page, with nothing left of the one before. */
export function PageOf({ route }: { readonly route: Route }): JSX.Element {
  switch (route.kind) {
    case "overview":
      return <OverviewPage />;
    case "runs":
      return <RunsPage filter={route.filter} />;
    case "start":
      return <StartPage program={route.program} />;
    case "run":
      return <RunPage key={route.id} id={route.id} />;
    case "chain":
      return <RunChainPage key={route.id} id={route.id} />;
    case "budget-chain":
      return <BudgetChainPage key={route.id} id={route.id} />;
    case "approvals":
      return <ApprovalsPage key={route.status} status={route.status} before={route.before} />;
    case "approval":
      return <ApprovalPage key={route.id} id={route.id} />;
    case "sessions":
      return <SessionsPage />;
    case "keys":
      return <KeysPage />;
    case "tokens":
      return <TokensPage />;
    case "config":
      return <ConfigPage />;
    case "verify":
      return <VerifyPage />;
    case "unknown":
      return (
        <>
          <Heading title="Nothing here" />
          <Empty title={`There is no page at ${route.path}.`}>
            <p>
              <a href="/">Go to the overview</a>
            </p>
          </Empty>
        </>
      );
  }
}
