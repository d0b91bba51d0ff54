import { describePrograms } from "./describe-programs.js";
import { pythonFiles } from "./programs/python-files.js";
import { pythonLoops } from "./programs/python-loops.js";
import { pythonMemory } from "./programs/python-memory.js";
import { pythonRecursion } from "./programs/python-recursion.js";

describePrograms("hostile Python: files, memory, loops, recursion", [
  ...pythonFiles,
  ...pythonMemory,
  ...pythonLoops,
  ...pythonRecursion,
]);
