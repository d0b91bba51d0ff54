/** Where a guest's relative paths begin. */
export const HOME_FOLDER = "/app";
/** The folders that a guest may write to: its home, and one for what it does not keep. */
export const WRITABLE_FOLDERS: readonly string[] = [HOME_FOLDER, "/tmp"];
