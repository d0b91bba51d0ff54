/** Wakes somebody up, however little else there is to do. An adapter must not call after the handle is disposed. */
export interface Timer {
  after(ms: number, run: () => void): Disposable;
}
