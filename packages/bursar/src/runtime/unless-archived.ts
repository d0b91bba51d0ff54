import { BursarError } from "../core/errors.js";

/**
 * Waits for the reading of a chain, and says whether it was read. One that is in a file is not: then what was read of it before is
 * all that is known here, which is no fault.
 */
export async function unlessArchived(reading: Promise<void>): Promise<boolean> {
  try {
    await reading;
    return true;
  } catch (error) {
    if (!(error instanceof BursarError) || error.code !== "store_archived") throw error;
    return false;
  }
}
