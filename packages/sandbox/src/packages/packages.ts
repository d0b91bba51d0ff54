export { type AddOptions, type AddProgress, type AddReport, addPackages } from "./add.js";
export { type CacheTag, type Compile, GUEST_CACHE_TAG, type SourceFile } from "./compiled.js";
export { PackageError, type PackageErrorCode } from "./errors.js";
export {
  compilePackages,
  licences,
  listPackages,
  mountablePackages,
  type PackageLicence,
  removePackage,
} from "./manage.js";
export { normalizeName } from "./names.js";
export type { PackageRecord, RecordedFile } from "./record.js";
export type { Stored } from "./store.js";
export { type OpenOptions, openPackages, type PackageTree, type TreeEntry } from "./tree.js";
export type { Omission } from "./unpacked.js";
