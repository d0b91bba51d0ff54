import type { Bursar, Principal } from "bursar";
import { render } from "ink";
import type { Style } from "../render/style.js";
import { Acts } from "./acts.js";
import { AlternateScreen } from "./alternate-screen.js";
import { App } from "./app.js";
import { Controls } from "./controls.js";
import { Lookout } from "./lookout.js";
import type { Note } from "./state.js";

export interface ScreenOptions {
  readonly bursar: Bursar;
  readonly by: Principal;
  readonly title: string;
  readonly style: Style;
  readonly signal: AbortSignal;
}

/** How a screen was left, and what had happened on it. */
export interface Left {
  readonly how: "quit" | "interrupt";
  readonly notes: readonly Note[];
  /** Runs that were driven from here, and can be resumed. */
  readonly runs: readonly string[];
}

/** Shows the screen until it is left. */
export async function runScreen(options: ScreenOptions): Promise<Left> {
  const { bursar, by, title, style, signal } = options;
  let leave: (how: Left["how"]) => void = () => {};
  const left = new Promise<Left["how"]>((resolve) => {
    leave = resolve;
    if (signal.aborted) resolve("interrupt");
    signal.addEventListener("abort", () => resolve("interrupt"), { once: true });
  });
  const { stdout } = process;
  using screen = new AlternateScreen(stdout);
  const repaint = () => {
    screen.clear();
    app.clear();
    app.rerender(<App controls={controls} title={title} style={style} />);
  };
  const controls = new Controls({ leave: (how) => leave(how), repaint });
  await using acts = new Acts(bursar, by, controls.tell);
  const lookout = new Lookout(bursar.store, controls.see);
  controls.connect(acts, lookout);
  // Before Ink hears of it: what was drawn for another size would stay behind.
  const resized = () => screen.clear();
  stdout.on("resize", resized);
  const app = render(<App controls={controls} title={title} style={style} />, {
    exitOnCtrlC: false,
    patchConsole: false,
  });
  try {
    await lookout.look();
    const gone = app.waitUntilExit().then(() => "interrupt" as const);
    const how = await Promise.race([left, gone]);
    return { how, notes: [...acts.notes], runs: acts.driven };
  } finally {
    stdout.off("resize", resized);
    app.unmount();
    await lookout.stop();
  }
}
