import type { JSX } from "preact";
import { Heading } from "../../parts/heading.js";
import { ChainBrowser } from "./chain-browser.js";

/** Everything that happened to a budget that belongs to no run: what was granted, to whom, and what its calls have used. */
export function BudgetChainPage({ id }: { readonly id: string }): JSX.Element {
  return (
    <>
      <Heading title="Causal chain" tab={`Chain of ${id}`}>
        <span class="run-id">{id}</span>
      </Heading>
      <ChainBrowser path={`budgets/${encodeURIComponent(id)}/chain`} isTouched={() => true} />
    </>
  );
}
