import { COST_OF, COSTS, sizeCharge } from "./costs.js";
import type { Declarations } from "./declarations.js";
import { FRAME, Frames } from "./frames.js";
import { type Body, EDGE, type Graph, NONE } from "./graph.js";
import { type CodeScope, checkBulkIndices, readBlockType, readImmediate, readLocals, skipSimd } from "./immediates.js";
import { HELPERS, type Helper } from "./layout.js";
import { ModuleError } from "./module-error.js";
import { BULK, featureOf, IMMEDIATE, IMMEDIATES, OP } from "./operators.js";
import type { Reader } from "./reader.js";

/** Guesses about how code runs. They decide where charges stand, never what they add up to. */
const ROUNDS_OF_A_LOOP = 8;
const LOOP_AGAIN = 0.8;
const BRANCH_TAKEN = 0.35;
/** A `br_if` that charges gets an `if` around it, so it is a little dearer than falling through. */
const EXTRA_FOR_IF = 1.05;
/** After a block that a table branches to, a charge fits as well as before. */
const AFTER_TABLE_TARGET = 0.95;
const MOST_OFTEN = 2 ** 40;

/** Reads the code of one function after another into a graph, in one pass, and checks every index on the way. */
export class Scanner {
  private readonly graph: Graph;
  private readonly declarations: Declarations;
  private readonly reader: Reader;
  private readonly frames: Frames = new Frames();
  private scope: CodeScope;
  private outside = NONE;
  /** The node that is being read, or none in code that cannot be reached. */
  private current = NONE;
  private cost = 0;
  private loop = NONE;
  private callsOut = false;

  constructor(graph: Graph, declarations: Declarations, reader: Reader) {
    this.graph = graph;
    this.declarations = declarations;
    this.reader = reader;
    this.scope = { declarations, locals: 0 };
  }

  /** Reads the next function, which ends where its size says. */
  scan(signatureIndex: number, end: number): Body {
    const { graph, reader, declarations } = this;
    const signature = declarations.signatures[signatureIndex];
    if (signature === undefined) throw reader.fault("a function has no type");
    const from = { node: graph.nodes, edge: graph.edges, call: graph.callee.length, loop: graph.loops };
    const locals = readLocals(reader, signature.params);
    this.scope = { declarations, locals: locals.locals };
    const start = reader.position;
    this.begin(start, signature.results.length);
    while (this.frames.depth > 0) this.step();
    if (reader.position !== end) throw reader.fault("a function goes on after its end");
    return {
      ...locals,
      start,
      end,
      firstNode: from.node,
      firstEdge: from.edge,
      firstCall: from.call,
      firstLoop: from.loop,
      nodeEnd: graph.nodes,
      edgeEnd: graph.edges,
      callEnd: graph.callee.length,
      loopEnd: graph.loops,
      callsOut: this.callsOut,
      hasLoops: graph.loops > from.loop,
    };
  }

  private begin(start: number, results: number): void {
    const { graph } = this;
    this.outside = graph.addNode(0, NONE);
    this.loop = NONE;
    this.callsOut = false;
    this.frames.depth = 0;
    this.frames.push(FRAME.function, this.outside, results, NONE);
    this.current = graph.addNode(1, NONE);
    this.cost = COSTS.entry;
    graph.addEdge(EDGE.entry, this.outside, this.current, 1, start, start);
  }

  private step(): void {
    const { reader } = this;
    const at = reader.position;
    const code = reader.byte();
    this.cost += COST_OF[code] as number;
    const kind = IMMEDIATES[code] as number;
    if (kind === IMMEDIATE.none) return;
    if (kind < IMMEDIATE.special) readImmediate(reader, kind, this.scope);
    else if (kind === IMMEDIATE.special) this.special(code, at);
    else throw refused(code, at);
  }

  private special(code: number, at: number): void {
    switch (code) {
      case OP.unreachable:
        if (this.current !== NONE) this.graph.cold.set(this.current, 1);
        this.enter(NONE);
        return;
      case OP.block:
        this.frames.push(FRAME.block, NONE, readBlockType(this.reader, this.declarations, false), this.loop);
        return;
      case OP.loop:
        this.openLoop(at);
        return;
      case OP.if:
        this.openIf();
        return;
      case OP.else:
        this.openElse(at);
        return;
      case OP.end:
        this.close(at);
        return;
      case OP.br:
        this.branch(at);
        return;
      case OP.brIf:
        this.branchIf(at);
        return;
      case OP.brTable:
        this.branchTable(at);
        return;
      case OP.return:
        this.leaveFunction(EDGE.return, at);
        return;
      case OP.call:
      case OP.callIndirect:
        this.call(code);
        return;
      case OP.memoryGrow:
        this.growMemory(at);
        return;
      case OP.bulkPrefix:
        this.bulk(at);
        return;
      case OP.simdPrefix:
        skipSimd(this.reader);
        return;
      default:
        throw refused(code, at);
    }
  }

  /** Ends the current node and goes on with another one, or with none. */
  private enter(node: number): void {
    if (this.current !== NONE) this.graph.cost.set(this.current, this.graph.cost.get(this.current) + this.cost);
    this.cost = 0;
    this.current = node;
  }

  /** Ends the current node; a new one of the given frequency follows it. */
  private follow(frequency: number, position: number, weight = frequency): number {
    const next = this.graph.addNode(frequency, this.loop);
    this.graph.addEdge(EDGE.plain, this.current, next, weight, position, position);
    this.enter(next);
    return next;
  }

  private get frequency(): number {
    return this.graph.frequency.get(this.current);
  }

  private openLoop(at: number): void {
    const { graph, reader } = this;
    const arity = readBlockType(reader, this.declarations, true);
    if (this.current === NONE) {
      this.frames.push(FRAME.deadLoop, NONE, arity, this.loop);
      return;
    }
    const outer = this.loop;
    const before = this.frequency;
    this.loop = graph.addLoop(outer);
    const head = this.follow(Math.min(before * ROUNDS_OF_A_LOOP, MOST_OFTEN), at, before);
    this.frames.push(FRAME.loop, head, arity, outer);
    const inside = graph.addNode(this.frequency, this.loop);
    graph.addEdge(EDGE.header, head, inside, this.frequency, reader.position, reader.position);
    this.enter(inside);
  }

  private openIf(): void {
    const arity = readBlockType(this.reader, this.declarations, false);
    const condition = this.current;
    this.frames.push(FRAME.if, NONE, arity, this.loop, condition);
    if (condition !== NONE) this.follow(this.frequency / 2, this.reader.position);
  }

  private openElse(at: number): void {
    const { frames, graph } = this;
    const frame = frames.depth - 1;
    if (frames.kind.get(frame) !== FRAME.if) throw ModuleError.malformed("an else stands outside of an if", at);
    this.joinLabel(frame, at);
    frames.kind.set(frame, FRAME.else);
    const condition = frames.condition.get(frame);
    this.enter(NONE);
    if (condition === NONE) return;
    const frequency = graph.frequency.get(condition) / 2;
    const node = graph.addNode(frequency, this.loop);
    graph.addEdge(EDGE.plain, condition, node, frequency, this.reader.position, this.reader.position);
    this.current = node;
  }

  private close(at: number): void {
    const { frames } = this;
    const frame = --frames.depth;
    switch (frames.kind.get(frame)) {
      case FRAME.function:
        this.leaveFunction(EDGE.plain, at);
        return;
      case FRAME.loop:
        this.loop = frames.loop.get(frame);
        if (this.current !== NONE) this.follow(this.frequency, this.reader.position);
        return;
      case FRAME.deadLoop:
        return;
      case FRAME.if:
        if (frames.condition.get(frame) === NONE) return;
        this.joinLabel(frame, at);
        this.closeWithoutElse(frame, at);
        break;
      default:
        if (frames.label.get(frame) === NONE) return;
        this.joinLabel(frame, at);
    }
    this.enter(frames.label.get(frame));
    if (frames.isTableTarget.get(frame) === 1) {
      this.follow(this.frequency, this.reader.position, this.frequency * AFTER_TABLE_TARGET);
    }
  }

  private closeWithoutElse(frame: number, at: number): void {
    const condition = this.frames.condition.get(frame);
    const frequency = this.graph.frequency.get(condition) / 2;
    this.connectLabel(EDGE.noElse, condition, frame, frequency, frequency * EXTRA_FOR_IF, at, at);
  }

  /** Lets the current node, if there is one, flow into the end of a frame. */
  private joinLabel(frame: number, at: number): void {
    if (this.current !== NONE)
      this.connectLabel(EDGE.plain, this.current, frame, this.frequency, this.frequency, at, at);
  }

  private connectLabel(
    kind: number,
    from: number,
    frame: number,
    frequency: number,
    weight: number,
    position: number,
    resume: number,
    depth = 0,
  ): void {
    const { frames, graph } = this;
    let label = frames.label.get(frame);
    if (label === NONE) {
      label = graph.addNode(0, frames.loop.get(frame));
      frames.label.set(frame, label);
    }
    graph.addEdge(kind, from, label, weight, position, resume, depth);
    const isForward = frames.kind.get(frame) !== FRAME.loop && frame > 0;
    if (isForward) graph.frequency.set(label, Math.min(graph.frequency.get(label) + frequency, MOST_OFTEN));
  }

  private leaveFunction(kind: number, at: number): void {
    if (this.current !== NONE) {
      this.graph.addEdge(kind, this.current, this.outside, this.frequency, at, at);
    }
    this.enter(NONE);
  }

  /** The frame that a label means. */
  private target(label: number): number {
    if (label >= this.frames.depth) throw this.reader.fault(`there is no label ${label}`);
    return this.frames.depth - 1 - label;
  }

  private branch(at: number): void {
    this.joinLabel(this.target(this.reader.u32()), at);
    this.enter(NONE);
  }

  private branchIf(at: number): void {
    const { frames, reader } = this;
    const label = reader.u32();
    const frame = this.target(label);
    if (this.current === NONE) return;
    const frequency = this.frequency;
    const taken = frequency * (frames.kind.get(frame) === FRAME.loop ? LOOP_AGAIN : BRANCH_TAKEN);
    if (frames.arity.get(frame) > 0) {
      // The values that it carries lie below the condition, so an if cannot reach them: both ways have to agree.
      this.follow(frequency, at);
      this.connectLabel(EDGE.forced, this.current, frame, taken, 0, at, at);
    } else {
      this.connectLabel(EDGE.brIf, this.current, frame, taken, taken * EXTRA_FOR_IF, at, reader.position, label);
    }
    this.follow(frequency - taken, reader.position);
  }

  private branchTable(at: number): void {
    const { reader, frames } = this;
    const labels = reader.count("labels") + 1;
    const share = this.current === NONE ? 0 : this.frequency / labels;
    if (this.current !== NONE) this.follow(this.frequency, at);
    let last = NONE;
    for (let index = 0; index < labels; index += 1) {
      const frame = this.target(reader.u32());
      if (this.current === NONE) continue;
      frames.isTableTarget.set(frame, 1);
      if (frame !== last) this.connectLabel(EDGE.forced, this.current, frame, share, 0, at, at);
      last = frame;
    }
    this.enter(NONE);
  }

  private call(code: number): void {
    const { reader, declarations, graph } = this;
    const index = reader.u32();
    if (code === OP.callIndirect) {
      if (index >= declarations.signatures.length) throw reader.fault(`there is no type ${index}`);
      if (reader.u32() >= declarations.tables) throw reader.fault("there is no such table");
    } else if (index >= declarations.functions.length) throw reader.fault(`there is no function ${index}`);
    if (this.current === NONE) return;
    if (code === OP.callIndirect || index < declarations.importedFunctions) this.callsOut = true;
    else graph.addCall(this.current, index - declarations.importedFunctions);
    this.markLoops();
  }

  /** Notes for all loops around this place that others look at the fuel during them. */
  private markLoops(): void {
    const { graph } = this;
    for (let loop = this.loop; loop !== NONE && graph.loopHasCall.get(loop) === 0; loop = graph.loopParent.get(loop)) {
      graph.loopHasCall.set(loop, 1);
    }
  }

  private growMemory(at: number): void {
    if (this.reader.byte() !== 0) throw ModuleError.unsupported("multi-memory", at);
    this.addHelper("grow", at, this.reader.position);
  }

  private bulk(at: number): void {
    const { reader } = this;
    const code = reader.u32();
    if (code < BULK.memoryInit) return;
    checkBulkIndices(reader, code, this.declarations);
    const charge = sizeCharge(code);
    // Moving memory stands apart as a whole: within a large function its call of the engine would cost registers.
    if (code === BULK.memoryCopy) this.addHelper("copy", at, reader.position);
    else if (code === BULK.memoryFill) this.addHelper("fill", at, reader.position);
    else if (charge !== "none") this.addHelper(charge, at, at);
  }

  private addHelper(helper: Helper, position: number, resume: number): void {
    const { graph, current } = this;
    if (current === NONE) return;
    graph.addEdge(EDGE.helper, current, current, 0, position, resume, HELPERS.indexOf(helper));
    this.markLoops();
  }
}

function refused(code: number, at: number): ModuleError {
  const feature = featureOf(code);
  if (feature !== null) return ModuleError.unsupported(feature, at);
  return ModuleError.malformed(`there is no operator 0x${code.toString(16)}`, at);
}
