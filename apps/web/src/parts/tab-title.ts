let page = "";
let waiting = 0;

/** What the page in sight is called. */
export function nameTab(name: string): void {
  page = name;
  write();
}

/** How many requests wait: in front, where it can be seen on a tab that is not in sight. */
export function countInTab(count: number): void {
  waiting = count;
  write();
}

function write(): void {
  document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${page} · Bursar`;
}
