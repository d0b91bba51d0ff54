/** Makes something once for all who ask at the same time. Nobody gets what was begun before he asked: it may be older. */
export class Shared<Value> {
  private readonly make: (id: string) => Promise<Value>;
  private readonly begun = new Map<string, Promise<Value>>();
  private readonly next = new Map<string, Promise<Value>>();

  constructor(make: (id: string) => Promise<Value>) {
    this.make = make;
  }

  get(id: string): Promise<Value> {
    const begun = this.begun.get(id);
    if (begun === undefined) return this.begin(id);
    const known = this.next.get(id);
    if (known !== undefined) return known;
    const after = begun.then(
      () => this.follow(id),
      () => this.follow(id),
    );
    this.next.set(id, after);
    return after;
  }

  private follow(id: string): Promise<Value> {
    this.next.delete(id);
    return this.begin(id);
  }

  private begin(id: string): Promise<Value> {
    const made = this.make(id).finally(() => this.begun.delete(id));
    this.begun.set(id, made);
    return made;
  }
}
