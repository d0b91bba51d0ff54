/** Wakes somebody up. An adapter must not call after the handle is disposed, and must not keep a process alive by itself. */
export interface Timer {
  after(ms: number, run: () => void): Disposable;
}
