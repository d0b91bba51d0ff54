import { useInput, useStdout } from "ink";
import { type ReactElement, useEffect, useState, useSyncExternalStore } from "react";
import type { Style } from "../render/style.js";
import type { Controls } from "./controls.js";
import { readPresses } from "./key.js";
import { Screen } from "./screen.js";
import type { Size } from "./state.js";

const COLUMNS = 80;
const ROWS = 24;

export interface AppProps {
  readonly controls: Controls;
  readonly title: string;
  readonly style: Style;
}

/** The screen: it draws what is to be seen and passes on what is pressed. All else is decided elsewhere. */
export function App({ controls, title, style }: AppProps): ReactElement {
  const { state, sight, driving } = useSyncExternalStore(controls.subscribe, controls.current);
  const size = useSize();
  useInput((input, key) => {
    for (const press of readPresses(input, key)) controls.press(press);
  });
  return <Screen state={state} sight={sight} title={title} driving={driving} size={size} style={style} />;
}

/** The size of the window, also when it is changed. */
function useSize(): Size {
  const { stdout } = useStdout();
  const [size, setSize] = useState(() => sizeOf(stdout));
  useEffect(() => {
    const resized = () => setSize(sizeOf(stdout));
    stdout.on("resize", resized);
    return () => void stdout.off("resize", resized);
  }, [stdout]);
  return size;
}

function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  return { columns: columns || COLUMNS, rows: rows || ROWS };
}
