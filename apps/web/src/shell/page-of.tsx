import type { JSX } from "preact";
import { ApprovalPage } from "../pages/approvals/approval-page.js";
import { ApprovalsPage } from "../pages/approvals/approvals-page.js";
import { BudgetChainPage } from "../pages/chain/budget-chain-page.js";
import { RunChainPage } from "../pages/chain/run-chain-page.js";
import { VerifyPage } from "../pages/chain/verify-page.js";
import { ConfigPage } from "../pages/config/config-page.js";
import { KeysPage } from "../pages/keys/keys-page.js";
import { OverviewPage } from "../pages/overview/overview-page.js";
import { RunPage } from "../pages/run/run-page.js";
import { RunsPage } from "../pages/runs/runs-page.js";
import { SessionsPage } from "../pages/sessions/sessions-page.js";
import { StartPage } from "../pages/start/start-page.js";
import { TokensPage } from "../pages/tokens/tokens-page.js";
import { Heading } from "../parts/heading.js";
import { Empty } from "../parts/states.js";
import type { Route } from "../router/route.js";

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
