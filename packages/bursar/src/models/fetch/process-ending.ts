/** Why a call is broken off when its process is about to die: it is settled, and nobody in the process is told. */
export class ProcessEnding extends Error {
  override readonly name: string = "ProcessEnding";

  constructor() {
    super("the process is about to end");
  }
}
