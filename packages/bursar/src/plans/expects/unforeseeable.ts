/** Nobody can tell what a plan will do from here on, and why that is so. It never leaves the estimate. */
export class Unforeseeable extends Error {
  override readonly name: string = "Unforeseeable";
}
