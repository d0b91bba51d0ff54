import type { JSX } from "preact";
import { remove } from "../../api/client.js";
import { useMe } from "../../api/me.js";
import { mayOperate, type SandboxSessionView } from "../../api/shapes.js";
import { useAct } from "../../parts/act.js";
import { announce } from "../../parts/announcer.js";
import { ConfirmButton } from "../../parts/confirm-button.js";
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
      <table>
        <caption class="unseen">Sandbox sessions</caption>
        <thead>
          <tr>
            <th scope="col">Session</th>
            <th scope="col">Language</th>
            <th scope="col">State</th>
            <th scope="col" class="wide-only">
              Since
            </th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map(({ id, language, status, created }) => (
            <tr key={id}>
              <th scope="row">{id}</th>
              <td>{language ?? ""}</td>
              <td>{status ?? ""}</td>
              <td class="wide-only">{typeof created === "number" && <Instant at={created} />}</td>
              <td class="number">
                {mayOperate(me) && (
                  <ConfirmButton
                    label="Destroy"
                    about={`session ${id}`}
                    question="Its files and its memory are gone for good."
                    disabled={busy}
                    onConfirm={() => destroy(id)}
                  />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
