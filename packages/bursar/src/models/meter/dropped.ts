/** Whoever reads a stream holds it: one that is gone cannot be read any more, though nobody has said so. */
const dropped = new FinalizationRegistry<() => void>((leave) => leave());

/** Has `leave` called once `stream` was collected, however it ended. What `leave` leads to must not lead to the stream. */
export function whenDropped(stream: object, leave: () => void): void {
  dropped.register(stream, leave);
}
