import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { announce } from "./announcer.js";
import { Icon } from "./icon.js";

/** A text to be taken along; selected where the browser does not let a page write to the clipboard. */
export function Copyable({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  const code = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      announce(`${what} copied`);
    } catch {
      if (code.current !== null) getSelection()?.selectAllChildren(code.current);
      announce(`${what} selected; press Ctrl+C`);
    }
  };
  return (
    <span class="copyable">
      <code ref={code}>{text}</code>
      <button type="button" class="button button-small" onClick={copy} aria-label={`Copy ${what}`}>
        <Icon name="copy" />
      </button>
    </span>
  );
}
