export {
  type AddProgress,
  type AddReport,
  addPackages,
  type Compile,
  compilePackages,
  licences,
  listPackages,
  mountablePackages,
  PackageError,
  type PackageLicence,
  type PackageRecord,
  removePackage,
  type Stored,
} from "./packages/packages.js";
export { GuestCompiler, type GuestCompilerOptions } from "./sessions/compiled.js";
