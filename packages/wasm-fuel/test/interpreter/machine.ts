import type { CostTable } from "../../src/rewriter/costs.js";
import type { DecodedModule, DefinedFunction, FunctionType, Instruction } from "./decode.js";
import { loadFrom, type Memory, memoryOf, storeTo, WIDTHS } from "./memory.js";
import { binary, saturating, Trap, unary, type Value } from "./numbers.js";

type HostFunction = (...args: Value[]) => Value | undefined;
export type HostFunctions = Readonly<Record<string, Readonly<Record<string, HostFunction>>>>;

const PAGE = 65_536;
const MOST_OPERATORS = 500_000_000;

/** By their codes, the operators that the cost table can list as free. */
const NAMES: Readonly<Record<number, string>> = {
  0: "unreachable",
  1: "nop",
  2: "block",
  3: "loop",
  5: "else",
  11: "end",
  15: "return",
  26: "drop",
};

/** A place that a branch can go to: how many values it takes along, and what is below them. */
interface Label {
  readonly arity: number;
  readonly height: number;
  readonly target: number;
  readonly isLoop: boolean;
}

/** Executes a module one operator after the other, as the specification tells it, and adds up what they cost. */
export class Machine {
  consumed = 0;
  readonly globals: Value[] = [];
  readonly tables: Value[][];
  memory: Memory;
  private readonly module: DecodedModule;
  private readonly host: HostFunctions;
  private readonly costs: CostTable;
  private readonly elements: Value[][];
  private readonly data: Uint8Array[];
  private stack: Value[] = [];
  private executed = 0;

  constructor(module: DecodedModule, host: HostFunctions, costs: CostTable) {
    this.module = module;
    this.host = host;
    this.costs = costs;
    for (const { init } of module.globals) this.globals.push(this.constant(init));
    this.tables = module.tables.map(({ minimum }) => Array<Value>(minimum).fill(null));
    this.memory = memoryOf(new Uint8Array((module.memories[0]?.minimum ?? 0) * PAGE));
    this.elements = module.elements.map(({ items }) => items.map((item) => this.constant(item)));
    this.data = module.data.map(({ bytes }) => bytes);
    for (const [index, { mode, target, offset }] of module.elements.entries()) {
      const items = this.elements[index] ?? [];
      if (mode === "active")
        for (const [at, item] of items.entries()) this.table(target)[Number(this.constant(offset)) + at] = item;
      if (mode !== "passive") this.elements[index] = [];
    }
    for (const [index, { mode, offset, bytes }] of module.data.entries()) {
      if (mode !== "active") continue;
      this.memory.bytes.set(bytes, Number(this.constant(offset)));
      this.data[index] = new Uint8Array(0);
    }
  }

  /** Calls an export and gives its results. */
  run(name: string, ...args: Value[]): readonly Value[] {
    const found = this.module.exports.get(name);
    if (found?.kind !== 0) throw new Error(`there is no function ${name}`);
    this.stack = [...args];
    this.call(found.index);
    return this.stack;
  }

  private call(index: number): void {
    const imported = this.module.imports[index];
    if (imported !== undefined) {
      const args = this.stack.splice(this.stack.length - imported.type.params.length);
      const result = this.host[imported.module]?.[imported.name]?.(...args);
      if (result !== undefined) this.stack.push(result);
      return;
    }
    const called = this.module.functions[index - this.module.imports.length];
    if (called === undefined) throw new Error(`there is no function ${index}`);
    this.consumed += this.costs.entry;
    const args = this.stack.splice(this.stack.length - called.type.params.length);
    this.execute(called, [...args, ...called.locals.map(zeroOf)]);
  }

  private execute(called: DefinedFunction, locals: Value[]): void {
    const base = this.stack.length;
    const labels: Label[] = [
      { arity: called.type.results.length, height: base, target: called.code.length, isLoop: false },
    ];
    for (let at = 0; at < called.code.length; ) {
      const instruction = called.code[at] as Instruction;
      this.count(instruction);
      at = this.step(instruction, at, labels, locals, called);
    }
    const results = this.stack.splice(this.stack.length - called.type.results.length);
    this.stack.length = base;
    this.stack.push(...results);
  }

  private count({ code }: Instruction): void {
    this.executed += 1;
    if (this.executed > MOST_OPERATORS) throw new Error("the program takes too long for the interpreter");
    if (!this.costs.free.includes(NAMES[code] ?? "")) this.consumed += this.costs.operator;
  }

  /** Executes one operator and gives the place of the next one. */
  private step(
    instruction: Instruction,
    at: number,
    labels: Label[],
    locals: Value[],
    called: DefinedFunction,
  ): number {
    const { code, indices, end, otherwise, type } = instruction;
    const index = indices[0] ?? 0;
    switch (code) {
      case 0x00:
        throw new Trap("unreachable");
      case 0x02:
        labels.push({ arity: type.results.length, height: this.heightBelow(type), target: end, isLoop: false });
        return at + 1;
      case 0x03:
        labels.push({ arity: type.params.length, height: this.heightBelow(type), target: at, isLoop: true });
        return at + 1;
      case 0x04: {
        const isTrue = this.i32() !== 0;
        labels.push({ arity: type.results.length, height: this.heightBelow(type), target: end, isLoop: false });
        return isTrue ? at + 1 : otherwise === end ? end : otherwise + 1;
      }
      case 0x05:
        return end;
      case 0x0b:
        labels.pop();
        return at + 1;
      case 0x0c:
        return this.branch(index, labels);
      case 0x0d:
        return this.i32() === 0 ? at + 1 : this.branch(index, labels);
      case 0x0e: {
        const chosen = this.i32() >>> 0;
        return this.branch(indices[Math.min(chosen, indices.length - 1)] ?? 0, labels);
      }
      case 0x0f:
        return called.code.length;
      case 0x10:
        this.call(index);
        return at + 1;
      case 0x11:
        this.callIndirect(index, indices[1] ?? 0);
        return at + 1;
      default:
        this.compute(instruction, locals);
        return at + 1;
    }
  }

  private heightBelow(type: FunctionType): number {
    return this.stack.length - type.params.length;
  }

  /** Branches out of blocks, whose `end` is then passed without being executed, or to the head of a loop, which is free anyway. */
  private branch(label: number, labels: Label[]): number {
    const target = labels[labels.length - 1 - label] as Label;
    const carried = this.stack.splice(this.stack.length - target.arity);
    this.stack.length = target.height;
    this.stack.push(...carried);
    labels.length -= label + 1;
    return target.isLoop ? target.target : target.target + 1;
  }

  private callIndirect(type: number, table: number): void {
    const index = this.table(table)[this.i32() >>> 0];
    if (typeof index !== "number") throw new Trap("no function in the table");
    const actual = this.typeOf(index);
    const expected = this.module.types[type];
    if (actual.params.join() !== expected?.params.join() || actual.results.join() !== expected.results.join())
      throw new Trap("another type");
    this.call(index);
  }

  private typeOf(index: number): FunctionType {
    const found = this.module.imports[index] ?? this.module.functions[index - this.module.imports.length];
    if (found === undefined) throw new Error(`there is no function ${index}`);
    return found.type;
  }

  private compute(instruction: Instruction, locals: Value[]): void {
    const { code, indices, value } = instruction;
    const index = indices[0] ?? 0;
    const [one, two] = [unary.get(code), binary.get(code)];
    if (one !== undefined) this.stack.push(one(this.pop() as never));
    else if (two !== undefined) {
      const b = this.pop();
      this.stack.push(two(this.pop() as never, b as never));
    } else if (code >= 0x41 && code <= 0x44) this.stack.push(value);
    else if (code >= 0x28 && code <= 0x35) this.load(code, indices[1] ?? 0);
    else if (code >= 0x36 && code <= 0x3e) this.store(code, indices[1] ?? 0);
    else if (code === 0xfc) this.bulk(instruction);
    else if (code >= 0x20 && code <= 0x24) this.variable(code, index, locals);
    else this.other(code, index);
  }

  private variable(code: number, index: number, locals: Value[]): void {
    if (code === 0x20) this.stack.push(locals[index] ?? null);
    else if (code === 0x21) locals[index] = this.pop();
    else if (code === 0x22) locals[index] = this.stack.at(-1) ?? null;
    else if (code === 0x23) this.stack.push(this.globals[index] ?? null);
    else this.globals[index] = this.pop();
  }

  private other(code: number, index: number): void {
    switch (code) {
      case 0x01:
        return;
      case 0x1a:
        this.pop();
        return;
      case 0x1b:
      case 0x1c: {
        const isFirst = this.i32() !== 0;
        const second = this.pop();
        if (!isFirst) this.stack[this.stack.length - 1] = second;
        return;
      }
      case 0x25:
        this.stack.push(this.table(index)[this.inTable(index, this.i32() >>> 0, 1)] ?? null);
        return;
      case 0x26: {
        const item = this.pop();
        this.table(index)[this.inTable(index, this.i32() >>> 0, 1)] = item;
        return;
      }
      case 0x3f:
        this.stack.push(this.memory.bytes.length / PAGE);
        return;
      case 0x40:
        this.stack.push(this.growMemory(this.i32() >>> 0));
        return;
      case 0xd0:
        this.stack.push(null);
        return;
      case 0xd1:
        this.stack.push(Number(this.pop() === null));
        return;
      case 0xd2:
        this.stack.push(index);
        return;
      default:
        throw new Error(`the interpreter does not know operator 0x${code.toString(16)}`);
    }
  }

  private growMemory(pages: number): number {
    const before = this.memory.bytes.length / PAGE;
    if (before + pages > (this.module.memories[0]?.maximum ?? 0)) return -1;
    const bytes = new Uint8Array((before + pages) * PAGE);
    bytes.set(this.memory.bytes);
    this.memory = memoryOf(bytes);
    this.consumed += pages * this.costs.page;
    return before;
  }

  private bulk({ sub, indices: [first = 0, second = 0] }: Instruction): void {
    const convert = saturating[sub];
    if (convert !== undefined) {
      this.stack.push(convert(this.pop() as number));
      return;
    }
    if (sub === 9) this.data[first] = new Uint8Array(0);
    else if (sub === 13) this.elements[first] = [];
    else if (sub === 16) this.stack.push(this.table(first).length);
    else if (sub === 15) this.growTable(first);
    else this.move(sub, first, second);
  }

  private growTable(index: number): void {
    const count = this.i32() >>> 0;
    const item = this.pop();
    const table = this.table(index);
    this.consumed += count * this.costs.element;
    const before = table.length;
    if (before + count > (this.module.tables[index]?.maximum ?? 0)) this.stack.push(-1);
    else {
      for (let more = 0; more < count; more += 1) table.push(item);
      this.stack.push(before);
    }
  }

  /** The operators that move a number of bytes or elements: destination, source or value, and the number. */
  private move(sub: number, first: number, second: number): void {
    const count = this.i32() >>> 0;
    const source = this.pop();
    const to = this.i32() >>> 0;
    const from = Number(source) >>> 0;
    if (sub <= 11) this.consumed += Math.floor(count / this.costs.bytesPerUnit);
    else this.consumed += count * this.costs.element;
    const { bytes } = this.memory;
    if (sub === 8)
      bytes.set(slice(this.data[first] ?? new Uint8Array(0), from, count), inside(bytes.length, to, count));
    else if (sub === 10)
      bytes.copyWithin(inside(bytes.length, to, count), inside(bytes.length, from, count), from + count);
    else if (sub === 11) bytes.fill(Number(source), inside(bytes.length, to, count), to + count);
    else {
      const table = this.table(sub === 12 ? second : first);
      const items =
        sub === 17
          ? Array<Value>(count).fill(source)
          : slice(sub === 12 ? (this.elements[first] ?? []) : this.table(second), from, count);
      inside(table.length, to, count);
      for (const [at, item] of [...items].entries()) table[to + at] = item;
    }
  }

  private address(offset: number, size: number): number {
    return inside(this.memory.bytes.length, (this.i32() >>> 0) + offset, size);
  }

  private load(code: number, offset: number): void {
    this.stack.push(loadFrom(this.memory, code, this.address(offset, WIDTHS[code] ?? 1)));
  }

  private store(code: number, offset: number): void {
    const value = this.pop();
    storeTo(this.memory, code, this.address(offset, WIDTHS[code] ?? 1), value);
  }

  private table(index: number): Value[] {
    return this.tables[index] ?? [];
  }

  private inTable(index: number, at: number, count: number): number {
    return inside(this.table(index).length, at, count);
  }

  private pop(): Value {
    return this.stack.pop() ?? null;
  }

  private i32(): number {
    return Number(this.stack.pop());
  }

  /** Constants are not executed, so they cost nothing. */
  private constant(code: readonly Instruction[]): Value {
    const [first] = code;
    if (first?.code === 0x23) return this.globals[first.indices[0] ?? 0] ?? null;
    if (first?.code === 0xd2) return first.indices[0] ?? null;
    return first?.code === 0xd0 ? null : (first?.value ?? null);
  }
}

function inside(length: number, at: number, count: number): number {
  if (at + count > length) throw new Trap("out of bounds");
  return at;
}

function slice<T extends Uint8Array | Value[]>(list: T, from: number, count: number): T {
  return list.slice(inside(list.length, from, count), from + count) as T;
}

function zeroOf(type: number): Value {
  if (type === 0x7e) return 0n;
  return type === 0x70 || type === 0x6f ? null : 0;
}
