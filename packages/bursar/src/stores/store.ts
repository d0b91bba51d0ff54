// The public face of `bursar/store`: opening any store by its URL, and looking after one.

export { defaultFile, type Surroundings } from "./address.js";
export { StoreError, type StoreFault } from "./durable/errors.js";
export type { ArchivedChain, ArchiveOptions, ArchiveReport } from "./durable/housekeeping/archive.js";
export type { CheckOptions, CheckReport } from "./durable/housekeeping/check.js";
export type { Defect } from "./durable/housekeeping/defect.js";
export type { ExportReport, ExportTrailer } from "./durable/housekeeping/export.js";
export type { Chunks } from "./durable/housekeeping/import.js";
export type { StoreInfo } from "./durable/housekeeping/info.js";
export type { Progress, WorkOptions } from "./durable/housekeeping/port.js";
export {
  type BackupReport,
  Housekeeping,
  type HousekeepingOptions,
  type MigrateReport,
  openHousekeeping,
  type VacuumReport,
} from "./housekeeping.js";
