/** The card that was decided goes away, and with it the focus; the next one takes it, or else the heading of the page. */
export function moveOnFrom(id: string): void {
  const cards = [...document.querySelectorAll<HTMLElement>("article[data-item]")];
  const at = cards.findIndex((card) => card.dataset.item === id);
  const next = cards[at + 1] ?? cards[at - 1] ?? document.getElementById("title");
  next?.focus();
}
