export type Theme = "system" | "light" | "dark";

const KEY = "bursar-theme";
const changed = new EventTarget();

export function theme(): Theme {
  const kept = document.documentElement.dataset.theme;
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** Takes the theme of the last visit; a browser that keeps nothing follows the system. */
export function restoreTheme(): void {
  try {
    apply(localStorage.getItem(KEY));
  } catch {
    apply(null);
  }
}

export function setTheme(next: Theme): void {
  apply(next);
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // It holds for this visit alone, which is all that such a browser allows.
  }
  changed.dispatchEvent(new Event("change"));
}

/** Tells when colours have changed, by choice or with the system; what is painted has to be painted again. */
export function onThemeChange(listener: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", listener);
  changed.addEventListener("change", listener);
  return () => {
    system.removeEventListener("change", listener);
    changed.removeEventListener("change", listener);
  };
}

function apply(wanted: string | null): void {
  const { dataset } = document.documentElement;
  if (wanted === "light" || wanted === "dark") dataset.theme = wanted;
  else delete dataset.theme;
}
