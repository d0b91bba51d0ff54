export type { GuestFuel, ImportFigure, WorkFigure } from "./guests/guest-fuel.js";
export type { GuestFeatures, GuestManifest } from "./guests/guest-manifest.js";
export { npmQuickjs, type QuickjsManifest } from "./javascript/quickjs-manifest.js";
export {
  builtPython,
  GuestError,
  installedPython,
  installedPythonFolder,
  npmPython,
  npmPythonFile,
  type PythonManifest,
} from "./python/python-manifest.js";
