import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { setTheme, type Theme, theme } from "./theme.js";

const NEXT: Readonly<Record<Theme, Theme>> = { system: "dark", dark: "light", light: "system" };

export function ThemeToggle(): JSX.Element {
  const [current, setCurrent] = useState(theme);
  const change = () => {
    setTheme(NEXT[current]);
    setCurrent(NEXT[current]);
  };
  return (
    <button type="button" class="button button-quiet" onClick={change}>
      Theme: {current}
    </button>
  );
}
