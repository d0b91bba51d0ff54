import { describePrograms } from "./describe-programs.js";
import { javascriptFiles } from "./programs/javascript-files.js";
import { javascriptPrograms } from "./programs/javascript-programs.js";

describePrograms("hostile JavaScript", [...javascriptFiles, ...javascriptPrograms]);
