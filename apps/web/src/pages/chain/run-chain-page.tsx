import type { JSX } from "preact";
import { RunTabs } from "../../panels/run-tabs.js";
import { Heading } from "../../parts/heading.js";
import { ChainBrowser } from "./chain-browser.js";

/** Everything that happened to a run, link by link. */
export function RunChainPage({ id }: { readonly id: string }): JSX.Element {
  return (
    <>
      <Heading title="Causal chain" tab={`Chain of ${id}`}>
        <span class="run-id">{id}</span>
      </Heading>
      <RunTabs id={id} current="chain" />
      <ChainBrowser
        path={`runs/${encodeURIComponent(id)}/chain`}
        isTouched={(change) => change?.runs.includes(id) ?? true}
      />
    </>
  );
}
