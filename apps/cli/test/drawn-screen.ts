import { renderToString } from "ink";
import { createElement } from "react";
import type { Style } from "../src/render/style.js";
import { Screen } from "../src/tui/screen.js";
import type { Sight } from "../src/tui/sight.js";
import type { Size, State } from "../src/tui/state.js";

/** The lines of the screen in a window of this size. */
export function drawScreen(
  state: State,
  sight: Sight,
  { title, driving }: { readonly title: string; readonly driving: number },
  size: Size,
  style: Style,
): readonly string[] {
  const screen = createElement(Screen, { state, sight, title, driving, size, style });
  return renderToString(screen, { columns: size.columns }).split("\n");
}
