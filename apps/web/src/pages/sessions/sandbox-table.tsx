import type { JSX } from "preact";
import { remove } from "../../api/client.js";
import { useMe } from "../../api/me.js";
import { mayOperate, type SandboxSessionView } from "../../api/shapes.js";
import { useAct } from "../../parts/act.js";
import { announce } from "../../parts/announcer.js";
import { ConfirmButton } from "../../parts/confirm-button.js";
import { DataTable } from "../../parts/data-table.js";
import { Instant } from "../../parts/instant.js";
import { Empty, Problem } from "../../parts/states.js";

interface SandboxTableProps {
  readonly sessions: readonly SandboxSessionView[];
  readonly reload: () => void;
}

export function SandboxTable({ sessions, reload }: SandboxTableProps): JSX.Element {
  const me = useMe();
  const { busy, error, run } = useAct();
  const destroy = (id: string) =>
    run(async () => {
      await remove(`sessions/sandbox/${encodeURIComponent(id)}`);
      announce(`Session ${id} is destroyed`);
      reload();
    });
  if (sessions.length === 0) return <Empty title="No sandbox is kept at the moment." />;
  return (
    <>
      {error !== null && <Problem error={error} />}
      <DataTable
        caption="Sandbox sessions"
        captionClass="unseen"
        rows={sessions}
        keyOf={({ id }) => id}
        columns={[
          { title: "Session", cell: ({ id }) => id },
          { title: "Language", cell: ({ language }) => language ?? "" },
          { title: "State", cell: ({ status }) => status ?? "" },
          {
            title: "Since",
            isWideOnly: true,
            cell: ({ created }) => typeof created === "number" && <Instant at={created} />,
          },
          {
            title: "Actions",
            isTitleHidden: true,
            cellClass: "number",
            cell: ({ id }) =>
              mayOperate(me) && (
                <ConfirmButton
                  label="Destroy"
                  about={`session ${id}`}
                  question="Its files and its memory are gone for good."
                  disabled={busy}
                  onConfirm={() => destroy(id)}
                />
              ),
          },
        ]}
      />
    </>
  );
}
