let turn: Promise<void> | null = null;

/**
 * When everything that has come in this turn is dealt with. Answers that leave together wake whoever waits for them once, and not
 * one by one, which takes the gateway's own processor as long as to read a request.
 */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = null;
      resolve();
    });
  });
  return turn;
}
