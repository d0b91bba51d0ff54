import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The page as it is shipped with the command line; in the repository, as it was built last. Null when it never was. */
export function pageFolder(): string | null {
  const places = ["../../../web/dist/", "../../web/"];
  const folders = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return folders.find((folder) => existsSync(`${folder}index.html`)) ?? null;
}
