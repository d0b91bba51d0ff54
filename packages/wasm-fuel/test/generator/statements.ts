import {
  block,
  branch,
  branchIf,
  branchTable,
  call,
  callHost,
  callIndirect,
  countedLoop,
  ifElse,
  loop,
  returnEarly,
  switchInLoop,
  trapInColdCode,
} from "./control.js";
import type { FunctionGenerator } from "./function.js";
import {
  binaryOperator,
  growMemory,
  load,
  memoryBulk,
  reference,
  select,
  setVariable,
  store,
  tableBulk,
  unaryOperator,
  value,
} from "./values.js";
import type { Flow } from "./world.js";

type Statement = (code: FunctionGenerator) => Flow;

/** Statements, those that matter most several times. */
const STATEMENTS: readonly Statement[] = [
  value,
  value,
  value,
  unaryOperator,
  binaryOperator,
  binaryOperator,
  select,
  setVariable,
  setVariable,
  load,
  store,
  memoryBulk,
  tableBulk,
  reference,
  growMemory,
  block,
  block,
  block,
  loop,
  loop,
  countedLoop,
  countedLoop,
  switchInLoop,
  ifElse,
  ifElse,
  ifElse,
  branchIf,
  branchIf,
  branchIf,
  branch,
  branchTable,
  returnEarly,
  call,
  call,
  call,
  callIndirect,
  callHost,
  trapInColdCode,
];

export function statement(code: FunctionGenerator): Flow {
  return code.world.random.pick(STATEMENTS)(code);
}
