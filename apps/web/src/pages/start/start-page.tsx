import type { JSX } from "preact";
import { useMe } from "../../api/me.js";
import { useResource } from "../../api/resource.js";
import { mayOperate, type OfferedProgram } from "../../api/shapes.js";
import { Heading } from "../../parts/heading.js";
import { Empty, Ready } from "../../parts/states.js";
import { StartForm } from "./start-form.js";

interface Programs {
  readonly items: readonly OfferedProgram[];
}

/** Where an operator starts a run of a program that the server offers. */
export function StartPage({ program }: { readonly program: string }): JSX.Element {
  const me = useMe();
  return (
    <>
      <Heading title="Start a run" />
      {mayOperate(me) ? (
        <Offered program={program} />
      ) : (
        <Empty title={`You are ${me.role}: an operator has to start runs.`} />
      )}
    </>
  );
}

function Offered({ program }: { readonly program: string }): JSX.Element {
  const resource = useResource<Programs>("programs", () => false);
  return (
    <Ready resource={resource} what="the programs">
      {({ items }) => {
        const [first] = items;
        if (first === undefined) return <NoPrograms />;
        return <StartForm programs={items} first={items.find(({ name }) => name === program) ?? first} />;
      }}
    </Ready>
  );
}

function NoPrograms(): JSX.Element {
  return (
    <Empty title="No program is registered here.">
      <p>Name those that can be started when you start the server:</p>
      <ul class="plain-list">
        <li>
          <code>bursar serve --module agents.mjs</code> for agents in TypeScript or JavaScript,
        </li>
        <li>
          <code>bursar serve --program triage.py</code> for a program in the sandbox,
        </li>
        <li>
          <code>programs</code> of <code>openServer</code> in a server of your own.
        </li>
      </ul>
      <p>
        From a terminal, <code>bursar run triage.py</code> starts any program at once.
      </p>
    </Empty>
  );
}
