/** A growing list of 32-bit integers in one flat array: a module has hundreds of thousands of nodes, too many for objects. */
export class Ints {
  private data: Int32Array;
  length = 0;

  constructor(capacity: number) {
    this.data = new Int32Array(Math.max(capacity, 16));
  }

  get(index: number): number {
    return this.data[index] as number;
  }

  set(index: number, value: number): void {
    this.data[index] = value;
  }

  push(value: number): void {
    if (this.length === this.data.length) this.grow();
    this.data[this.length++] = value;
  }

  private grow(): void {
    const larger = new Int32Array(this.data.length * 2);
    larger.set(this.data);
    this.data = larger;
  }
}

/** The same for numbers up to 2^53, such as costs, of which a hostile module could have more than 32 bits' worth. */
export class Floats {
  private data: Float64Array;
  length = 0;

  constructor(capacity: number) {
    this.data = new Float64Array(Math.max(capacity, 16));
  }

  get(index: number): number {
    return this.data[index] as number;
  }

  set(index: number, value: number): void {
    this.data[index] = value;
  }

  push(value: number): void {
    if (this.length === this.data.length) this.grow();
    this.data[this.length++] = value;
  }

  private grow(): void {
    const larger = new Float64Array(this.data.length * 2);
    larger.set(this.data);
    this.data = larger;
  }
}
