/** A growing list of numbers in one flat array: a module has hundreds of thousands of nodes, too many for objects. */
abstract class Numbers<Data extends Int32Array | Float64Array> {
  length = 0;
  private data: Data;

  protected constructor(data: Data) {
    this.data = data;
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

  protected abstract make(capacity: number): Data;

  private grow(): void {
    const larger = this.make(this.data.length * 2);
    larger.set(this.data);
    this.data = larger;
  }
}

const SMALLEST = 16;

/** Numbers of 32 bits. */
export class Ints extends Numbers<Int32Array> {
  constructor(capacity: number) {
    super(new Int32Array(Math.max(capacity, SMALLEST)));
  }

  protected make(capacity: number): Int32Array {
    return new Int32Array(capacity);
  }
}

/** Numbers up to 2^53, such as costs, of which a hostile module could have more than 32 bits' worth. */
export class Floats extends Numbers<Float64Array> {
  constructor(capacity: number) {
    super(new Float64Array(Math.max(capacity, SMALLEST)));
  }

  protected make(capacity: number): Float64Array {
    return new Float64Array(capacity);
  }
}
