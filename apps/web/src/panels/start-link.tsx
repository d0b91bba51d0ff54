import type { JSX } from "preact";
import { useMe } from "../api/me.js";
import { mayOperate } from "../api/shapes.js";
import { START_ADDRESS } from "../router/route.js";

/** The way to the form, for those who may start runs. */
export function StartLink(): JSX.Element | null {
  const me = useMe();
  if (!mayOperate(me)) return null;
  return (
    <div class="heading-actions">
      <a class="button" href={START_ADDRESS}>
        Start a run
      </a>
    </div>
  );
}
