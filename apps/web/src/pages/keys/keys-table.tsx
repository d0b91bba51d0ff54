import { Fragment, type JSX } from "preact";
import type { Key, KeyView } from "../../api/shapes.js";
import { ConfirmButton } from "../../parts/confirm-button.js";
import { Instant } from "../../parts/instant.js";
import { Status } from "../../parts/status.js";
import { addressOf } from "../../router/route.js";
import { KeyAmounts } from "./key-amounts.js";

interface KeysTableProps {
  readonly keys: readonly KeyView[];
  readonly busy: boolean;
  readonly onRotate: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

export function KeysTable({ keys, busy, onRotate, onRevoke }: KeysTableProps): JSX.Element {
  return (
    <table>
      <caption class="unseen">Gateway keys, oldest first</caption>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Status</th>
          <th scope="col" class="wide-only">
            Budget
          </th>
          <th scope="col" class="wide-only">
            Made
          </th>
          <th scope="col" class="wide-only">
            Expires
          </th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <Fragment key={key.id}>
            <tr class="step-continued">
              <th scope="row">
                {key.label || "no label"}
                <span class="run-id">{key.id}</span>
              </th>
              <td>
                <Status status={key.status} />
              </td>
              <td class="wide-only">{key.budget}</td>
              <td class="wide-only">
                <Instant at={key.created} />
              </td>
              <td class="wide-only">{key.expires === null ? "never" : <Instant at={key.expires} />}</td>
              <td class="number">
                {key.status === "active" && (
                  <Actions keyView={key} busy={busy} onRotate={onRotate} onRevoke={onRevoke} />
                )}
              </td>
            </tr>
            <tr class="step-more">
              <td colSpan={6}>
                <KeyAmounts view={key} />
                <ChainLink of={key} />
              </td>
            </tr>
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function ChainLink({ of: { id, label, budget } }: { readonly of: Key }): JSX.Element {
  return (
    <a href={addressOf({ kind: "budget-chain", id: budget })} aria-label={`Causal chain of ${label || id}`}>
      Causal chain
    </a>
  );
}

interface ActionsProps {
  readonly keyView: Key;
  readonly busy: boolean;
  readonly onRotate: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

function Actions({ keyView, busy, onRotate, onRevoke }: ActionsProps): JSX.Element {
  const name = keyView.label || keyView.id;
  return (
    <span class="row-actions">
      <ConfirmButton
        label="Rotate"
        about={name}
        question="It gets a new secret; the old one is taken for a while longer."
        disabled={busy}
        onConfirm={() => onRotate(keyView)}
      />
      <ConfirmButton
        label="Revoke"
        about={name}
        question="From now on nobody is served with it. This cannot be undone."
        disabled={busy}
        onConfirm={() => onRevoke(keyView)}
      />
    </span>
  );
}
