import type { BudgetView, DimensionView } from "bursar/views";
import type { JSX } from "preact";
import { percentOf } from "../format/amount.js";
import { inOrder, labelOf } from "../format/dimension.js";
import { Amount } from "../parts/amount.js";
import { Bar } from "../parts/bar.js";
import { Instant } from "../parts/instant.js";

const OWNERS: Readonly<Record<BudgetView["owner"], string>> = {
  run: "This run's own",
  session: "Its session's",
  tenant: "Its tenant's",
  shared: "Shared with others",
  parent: "Its parent's",
};

/** The budgets that every call of a run has to fit into, each inside the one above. */
export function BudgetTree({ budgets }: { readonly budgets: readonly BudgetView[] }): JSX.Element {
  return (
    <section aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      <p class="legend">
        <span class="key key-used" /> used <span class="key key-held" /> held by calls under way{" "}
        <span class="key key-free" /> free
      </p>
      <Branch budgets={budgets} />
    </section>
  );
}

function Branch({ budgets }: { readonly budgets: readonly BudgetView[] }): JSX.Element | null {
  const [first, ...inner] = budgets;
  if (first === undefined) return null;
  return (
    <ul class="tree">
      <li>
        <BudgetTable view={first} title={OWNERS[first.owner]} />
        <Branch budgets={inner} />
      </li>
    </ul>
  );
}

/** Where every limit of a budget stands; what is held is neither used nor free, and has a column of its own. */
export function BudgetTable({ view, title }: { readonly view: BudgetView; readonly title: string }): JSX.Element {
  const { budget, dimensions } = view;
  if (dimensions.length === 0) {
    return (
      <p class="budget-title">
        {title} <span class="run-id">{budget}</span> <span class="note">limits nothing</span>
      </p>
    );
  }
  return (
    <table class="amounts">
      <caption class="budget-title">
        {title} <span class="run-id">{budget}</span>
      </caption>
      <thead>
        <tr>
          <th scope="col">Dimension</th>
          <th scope="col" class="wide-only">
            <span class="unseen">Share</span>
          </th>
          <th scope="col" class="number">
            Used
          </th>
          <th scope="col" class="number">
            Held
          </th>
          <th scope="col" class="number">
            Limit
          </th>
          <th scope="col" class="number wide-only">
            %
          </th>
          <th scope="col" class="wide-only">
            When exhausted
          </th>
        </tr>
      </thead>
      <tbody>
        {inOrder(dimensions, ({ dimension }) => dimension).map((each) => (
          <Row key={each.dimension} view={each} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ view }: { readonly view: DimensionView }): JSX.Element {
  const { dimension, used, held, limit, policy, exhausted_at } = view;
  return (
    <tr class={used >= limit ? "exhausted" : ""}>
      <th scope="row">
        {labelOf(dimension)}
        {used >= limit && <span class="tag">exhausted</span>}
      </th>
      <td class="wide-only bar-cell">
        <Bar {...view} />
      </td>
      <td class="number">
        <Amount dimension={dimension} value={used} />
      </td>
      <td class="number">{held > 0 ? <Amount dimension={dimension} value={held} /> : <span class="note">–</span>}</td>
      <td class="number">
        <Amount dimension={dimension} value={limit} />
      </td>
      <td class="number wide-only">{percentOf(used, limit)}</td>
      <td class="wide-only">
        {policy.replaceAll("_", " ")}
        {exhausted_at !== null && used < limit && (
          <span class="note">
            {" "}
            · at this rate <Instant at={exhausted_at} />
          </span>
        )}
      </td>
    </tr>
  );
}
