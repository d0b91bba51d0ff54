import type { Json } from "bursar/chain";
import type { JSX } from "preact";

const LONGEST = 100_000;

/** Any value as text; a long one is cut, because nobody reads a megabyte and every browser would stall on it. */
export function JsonText({ value }: { readonly value: Json }): JSX.Element {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return <TextBlock text={text} label="Value" />;
}

export function TextBlock({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const cut = text.length > LONGEST;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
      <section class="text-block" tabIndex={0} aria-label={label}>
        <pre>{cut ? text.slice(-LONGEST) : text}</pre>
      </section>
      {cut && <p class="note">Only the last {LONGEST.toLocaleString("en-US")} characters are shown.</p>}
    </>
  );
}
