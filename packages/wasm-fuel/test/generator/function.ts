import { type Bytes, constant, signed, unsigned } from "./encode.js";
import { statement } from "./statements.js";
import { F32, F64, FUNCREF, I32, I64, STEPS, type Type, type World } from "./world.js";

/** A construct that a branch can go to, with the types that it takes along. */
export interface Target {
  readonly takes: Bytes;
}

const MOST_NESTING = 5;
const MOST_OPERATORS = 150;

/** Writes the code of one function, and keeps track of the types on the stack on the way. */
export class FunctionGenerator {
  readonly world: World;
  readonly type: Type;
  readonly locals: number[];
  readonly code: number[] = [];
  /** What lies on the stack above the beginning of the innermost block. */
  stack: number[] = [];
  /** The enclosing constructs, the function itself first. */
  readonly targets: Target[];
  private readonly counters = new Set<number>();
  private left = MOST_OPERATORS;

  constructor(world: World, type: Type) {
    this.world = world;
    this.type = type;
    this.locals = [...type.params, I32, I32, I64, F32, F64, FUNCREF];
    this.targets = [{ takes: type.results }];
  }

  generate(): { readonly locals: Bytes; readonly code: Bytes } {
    this.stopWhenOver();
    this.fill(this.type.results);
    return { locals: this.locals.slice(this.type.params.length), code: this.code };
  }

  get canNest(): boolean {
    return this.targets.length <= MOST_NESTING && this.left > 0;
  }

  emit(...bytes: Bytes): void {
    this.code.push(...bytes);
    this.left -= 1;
  }

  /** Pushes values of given types, from a constant, a local or a global. */
  push(...types: Bytes): void {
    const { random, globals } = this.world;
    for (const type of types) {
      const locals = this.localsOf(type);
      const inGlobals = [...globals.keys()].filter((index) => globals[index] === type && index !== STEPS);
      if (type === FUNCREF && random.chance(50)) this.emit(0xd2, ...unsigned(random.pick(this.world.declared)));
      else if (locals.length > 0 && random.chance(50)) this.emit(0x20, ...unsigned(random.pick(locals)));
      else if (inGlobals.length > 0 && random.chance(30)) this.emit(0x23, ...unsigned(random.pick(inGlobals)));
      else this.emit(...constant(type, random.below(2000) - 500));
      this.stack.push(type);
    }
  }

  localsOf(type: number): readonly number[] {
    return [...this.locals.keys()].filter((index) => this.locals[index] === type && !this.counters.has(index));
  }

  /** Adds a local that no other code touches. */
  addCounter(): number {
    const index = this.locals.push(I32) - 1;
    this.counters.add(index);
    return index;
  }

  pop(...types: Bytes): void {
    this.stack.length -= types.length;
  }

  /** Whether the top of the stack has these types. */
  hasOnTop(types: Bytes): boolean {
    return (
      types.length <= this.stack.length &&
      types.every((type, index) => this.stack[this.stack.length - types.length + index] === type)
    );
  }

  /** Makes sure that the top of the stack has these types. */
  ensure(types: Bytes): void {
    if (!this.hasOnTop(types)) this.push(...types);
  }

  /** Statements up to the end of the present block, which leaves exactly the given types. */
  fill(results: Bytes): void {
    const { random } = this.world;
    for (let count = 1 + random.below(7); count > 0 && this.left > 0; count -= 1) {
      if (statement(this) === "left") {
        this.fillDead();
        return;
      }
    }
    if (this.stack.join() === results.join()) return;
    while (this.stack.length > 0) {
      this.emit(0x1a);
      this.stack.pop();
    }
    this.push(...results);
  }

  /** A block of some kind with its contents. */
  nest(opening: Bytes, type: Type, takes: Bytes, work: () => void): void {
    this.pop(...type.params);
    const outer = this.stack;
    this.stack = [...type.params];
    this.emit(...opening);
    this.targets.push({ takes });
    work();
    this.targets.pop();
    this.emit(0x0b);
    this.stack = [...outer, ...type.results];
  }

  /** Counts a step, and returns when there are none left. */
  stopWhenOver(): void {
    this.emit(0x23, STEPS, 0x41, 1, 0x6b, 0x24, STEPS, 0x23, STEPS, 0x41, 0, 0x48, 0x04, 0x40);
    for (const type of this.type.results) this.emit(...constant(type, 7));
    this.emit(0x0f, 0x0b);
  }

  /** Code that is never reached: it has to be valid, and must not count. */
  private fillDead(): void {
    const { random } = this.world;
    const pieces: readonly Bytes[] = [
      [],
      [0x01],
      [0x00],
      [0x0c, 0],
      [0x02, 0x40, 0x0b],
      [0x03, 0x40, 0x0c, 0, 0x0b],
      [0x41, ...signed(5), 0x04, 0x40, 0x00, 0x05, 0x01, 0x0b],
      [0x1a, 0x1a],
      [0x41, 1, 0x40, 0, 0x1a],
      [0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0],
      [0x0f],
      [0x41, 0, 0x0d, ...unsigned(0), 0x00],
    ];
    for (let count = random.below(3); count > 0; count -= 1) this.emit(...random.pick(pieces), 0x00);
  }
}
