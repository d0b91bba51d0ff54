import type { JSX } from "preact";
import { addressOf } from "../router/route.js";

export function RunTabs({ id, current }: { readonly id: string; readonly current: "run" | "chain" }): JSX.Element {
  return (
    <nav class="tabs" aria-label="This run">
      <ul>
        <li>
          <a href={addressOf({ kind: "run", id })} aria-current={current === "run" ? "page" : undefined}>
            Run
          </a>
        </li>
        <li>
          <a href={addressOf({ kind: "chain", id })} aria-current={current === "chain" ? "page" : undefined}>
            Causal chain
          </a>
        </li>
      </ul>
    </nav>
  );
}
