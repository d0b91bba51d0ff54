import { Charges, type Hints } from "./charges.js";
import type { Declarations } from "./declarations.js";
import { type Body, EDGE, NONE } from "./graph.js";
import { HELPERS, type Helper, type Layout, plainBlockType } from "./layout.js";
import { OP, TYPE } from "./operators.js";
import type { Plan } from "./plan.js";
import type { Signature } from "./types.js";
import type { Writer } from "./writer.js";

/** Writes the functions of a module anew, with charges and checks between their operators. */
export class Emitter {
  /** The branches that are hardly ever taken, for each function that has some. */
  readonly hints: Map<number, Hints> = new Map();
  private readonly source: Uint8Array;
  private readonly writer: Writer;
  private readonly declarations: Declarations;
  private readonly layout: Layout;
  protected readonly plan: Plan;
  private readonly countsDepth: boolean;
  protected readonly charges: Charges;
  /** Up to where the source has been copied. */
  private copied = 0;

  constructor(
    source: Uint8Array,
    writer: Writer,
    declarations: Declarations,
    layout: Layout,
    plan: Plan,
    countsDepth: boolean,
  ) {
    this.source = source;
    this.writer = writer;
    this.declarations = declarations;
    this.layout = layout;
    this.plan = plan;
    this.countsDepth = countsDepth;
    this.charges = new Charges(writer, layout);
  }

  emit(index: number): void {
    const { writer, charges, plan, declarations } = this;
    const body = plan.bodies[index] as Body;
    const functionIndex = declarations.importedFunctions + index;
    const signature = declarations.signatures[declarations.functions[functionIndex] as number] as Signature;
    const countsDepth = this.countsDepth && plan.isCut[index] === 1;
    const start = writer.openSize();
    [charges.bodyStart, charges.hints] = [start, []];
    this.emitLocals(body, plan.isChecked[index] === 1);
    this.copied = body.start;
    if (countsDepth) this.openDepth(signature);
    for (let edge = body.firstEdge; edge < body.edgeEnd; edge += 1) this.emitEdge(edge, index, body, countsDepth);
    if (countsDepth) {
      // The last `end` of the source closes the block around its code; ours ends the function.
      this.copyTo(body.end);
      charges.leaveCall();
      writer.byte(OP.end);
    }
    this.copyTo(body.end);
    writer.closeSize(start);
    if (charges.hints.length > 0) this.hints.set(functionIndex, charges.hints);
  }

  private emitLocals(body: Body, isChecked: boolean): void {
    const { writer, charges, plan, source } = this;
    const needsScratch = isChecked || body.hasLoops;
    let needsSum = false;
    for (let loop = body.firstLoop; loop < body.loopEnd; loop += 1)
      if (plan.regions.ofLoop[loop] !== NONE) needsSum = true;
    const added = (needsScratch ? 1 : 0) + (needsSum ? 1 : 0);
    charges.scratch = body.locals;
    charges.sum = body.locals + added - 1;
    writer.u32(body.localGroups + (added > 0 ? 1 : 0));
    writer.copy(source, body.localsStart, body.start);
    if (added > 0) writer.operator(added, TYPE.i64);
  }

  /** Puts the code into a block, so that every way out but `return` comes by its end. */
  private openDepth(signature: Signature): void {
    const { writer, charges, layout } = this;
    charges.enterCall();
    const type = plainBlockType(signature);
    writer.byte(OP.block);
    if (type === null) writer.signed(layout.blockType(signature.results));
    else writer.byte(type);
  }

  protected emitEdge(edge: number, index: number, body: Body, countsDepth: boolean): void {
    const { plan, charges } = this;
    const { graph, regions, potentials } = plan;
    const kind = graph.kind.get(edge);
    if (kind === EDGE.forced) return;
    if (kind === EDGE.helper) {
      this.emitHelperCall(edge);
      return;
    }
    const amount = potentials.charge(edge, body);
    const to = graph.to.get(edge);
    const pending = potentials.of[to] as number;
    if (kind === EDGE.entry) {
      const own = plan.isFolded[index] === 1 ? 0 : amount;
      if (plan.isChecked[index] === 1) charges.chargeAndCheck(own, pending);
      else charges.charge(own);
      return;
    }
    const [here, there] = [regions.ofNode[graph.from.get(edge)] as number, regions.ofNode[to] as number];
    if (kind === EDGE.header) {
      this.copyTo(graph.position.get(edge));
      if (here !== NONE) charges.addToSumAndCheck(amount, pending);
      else charges.chargeAndCheck(amount, pending);
      return;
    }
    const isReturn = kind === EDGE.return && countsDepth;
    if (amount === 0 && here === there && !isReturn) return;
    this.copyTo(graph.position.get(edge));
    this.emitOnWay(edge, kind, () => this.emitAmount(amount, here, there, to));
    if (isReturn) charges.leaveCall();
  }

  /** Makes a place that only this edge comes by. */
  protected emitOnWay(edge: number, kind: number, work: () => void): void {
    const { writer, plan } = this;
    if (kind === EDGE.brIf) {
      this.copied = plan.graph.resume.get(edge);
      writer.operator(OP.if, TYPE.empty);
      work();
      writer.operator(OP.br, plan.graph.label.get(edge) + 1);
      writer.byte(OP.end);
      return;
    }
    if (kind === EDGE.noElse) writer.byte(OP.else);
    work();
  }

  private emitAmount(amount: number, here: number, there: number, to: number): void {
    const { charges, plan } = this;
    if (here === there) {
      if (here === NONE) charges.charge(amount);
      else charges.addToSum(amount);
    } else if (here === NONE) charges.startSum(amount);
    else {
      charges.chargeSum(amount);
      // A branch that stands outside of the region may still lead back into it, where the sum has to be right.
      const loop = plan.graph.loop.get(to);
      if (loop !== NONE && plan.regions.ofLoop[loop] !== NONE) charges.startSum(0);
    }
  }

  /** Calls a helper, which charges before the operator that follows, or does its work as well. */
  private emitHelperCall(edge: number): void {
    const { graph } = this.plan;
    this.copyTo(graph.position.get(edge));
    this.copied = graph.resume.get(edge);
    this.writer.operator(OP.call, this.layout.helper(HELPERS[graph.label.get(edge)] as Helper));
  }

  protected copyTo(position: number): void {
    if (position <= this.copied) return;
    this.writer.copy(this.source, this.copied, position);
    this.copied = position;
  }
}
