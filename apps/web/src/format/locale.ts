const FALLBACK = "en-US";

/** A language as a browser names it, or one that is known: some are called as the machine's is, `en-US@posix`, and that is none. */
export function knownLocale(name: string): string {
  try {
    return Intl.getCanonicalLocales(name)[0] === undefined ? FALLBACK : name;
  } catch {
    return FALLBACK;
  }
}

/** Before uPlot is loaded, which formats numbers in the browser's language and fails where that is none. */
export function mendLocale(browser: { readonly language: string }): void {
  const value = knownLocale(browser.language);
  if (value !== browser.language) Object.defineProperty(browser, "language", { value, configurable: true });
}
