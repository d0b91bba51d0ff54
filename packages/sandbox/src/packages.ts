export { type AddProgress, type AddReport, addPackages } from "./packages/add.js";
export type { Compile } from "./packages/compiled.js";
export { PackageError } from "./packages/errors.js";
export {
  compilePackages,
  licences,
  listPackages,
  mountablePackages,
  type PackageLicence,
  removePackage,
} from "./packages/manage.js";
export type { PackageRecord } from "./packages/record.js";
export type { Stored } from "./packages/store.js";
export { GuestCompiler, type GuestCompilerOptions } from "./sessions/compiled.js";
