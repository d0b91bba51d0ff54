/** The effects of a run that are under way, by their numbers, and how far each has come. */
export class UnderWay {
  private readonly all = new Map<number, Promise<void>>();
  /** Those that wait until others have given back what they hold. */
  private readonly waiting = new Set<number>();
  /** Those that are being made: something has happened outside, or may have. */
  private readonly making = new Set<number>();
  /** Those that the program knows the answers of, and that are being charged. */
  private readonly told = new Set<number>();

  /** Follows an effect to its end, of which somebody is told. */
  add(number: number, work: Promise<void>, ended: () => void): void {
    const done = work.finally(() => {
      for (const stage of [this.all, this.waiting, this.making, this.told]) stage.delete(number);
      ended();
    });
    this.all.set(number, done);
  }

  waits(number: number): void {
    this.waiting.add(number);
  }

  waitsNoMore(number: number): void {
    this.waiting.delete(number);
  }

  isMade(number: number): void {
    this.waiting.delete(number);
    this.making.add(number);
  }

  isTold(number: number): void {
    this.told.add(number);
  }

  /** How many there are that do not only wait for others. */
  get busy(): number {
    return this.all.size - this.waiting.size;
  }

  /** Whether nothing happens of which the program does not know what came of it. */
  get isIdle(): boolean {
    return this.all.size <= this.told.size;
  }

  /** Whether somebody waits for what others hold. */
  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /** Waits until there are none. */
  async settled(): Promise<void> {
    while (this.all.size > 0) await Promise.allSettled(this.all.values());
  }

  /** Waits until none is being made, and those that were are settled. */
  async made(): Promise<void> {
    while (this.making.size > 0) await this.ended(this.making);
  }

  /** Waits for those whose answers were told and which are not charged yet. */
  charged(): Promise<void> {
    return this.ended(this.told);
  }

  private async ended(numbers: Iterable<number>): Promise<void> {
    await Promise.allSettled([...numbers].map((number) => this.all.get(number)));
  }
}
