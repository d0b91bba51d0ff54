import { describePrograms } from "./describe-programs.js";
import { pythonControl } from "./programs/python-control.js";
import { pythonProcesses } from "./programs/python-processes.js";
import { pythonTampering } from "./programs/python-tampering.js";

describePrograms("hostile Python: control, processes, tampering", [
  ...pythonControl,
  ...pythonProcesses,
  ...pythonTampering,
]);
