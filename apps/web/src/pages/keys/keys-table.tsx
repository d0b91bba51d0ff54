import type { JSX } from "preact";
import type { Key, KeyView } from "../../api/shapes.js";
import { ConfirmButton } from "../../parts/confirm-button.js";
import { DataTable } from "../../parts/data-table.js";
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
    <DataTable
      caption="Gateway keys, oldest first"
      captionClass="unseen"
      rows={keys}
      keyOf={({ id }) => id}
      rowClass={() => "step-continued"}
      columns={[
        {
          title: "Key",
          cell: ({ label, id }) => (
            <>
              {label || "no label"}
              <span class="run-id">{id}</span>
            </>
          ),
        },
        { title: "Status", cell: ({ status }) => <Status status={status} /> },
        { title: "Budget", isWideOnly: true, cell: ({ budget }) => budget },
        { title: "Made", isWideOnly: true, cell: ({ created }) => <Instant at={created} /> },
        {
          title: "Expires",
          isWideOnly: true,
          cell: ({ expires }) => (expires === null ? "never" : <Instant at={expires} />),
        },
        {
          title: "Actions",
          isTitleHidden: true,
          cellClass: "number",
          cell: (key) =>
            key.status === "active" && <Actions keyView={key} busy={busy} onRotate={onRotate} onRevoke={onRevoke} />,
        },
      ]}
      below={(key) => (
        <>
          <KeyAmounts view={key} />
          <ChainLink of={key} />
        </>
      )}
    />
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
