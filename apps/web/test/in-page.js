// Looks a page over as it stands in the browser, and says what people could not read, reach or understand.

const CONTROLS = "a[href], button, input, select, textarea, summary, [role=img], dialog[open]";
const NORMAL_RATIO = 4.5;
const LARGE_RATIO = 3;

globalThis.findFaults = () => [
  ...namelessControls(),
  ...lowContrast(),
  ...tablesWithoutHeaders(),
  ...brokenOutline(),
  ...sharedIds(),
  ...tinyTargets(),
  ...overflow(),
];

function describe(element) {
  const words = (element.innerText ?? "").trim().slice(0, 40);
  return `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") ?? ""}"> ${words}`;
}

function isSeen(element) {
  return element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
}

function namelessControls() {
  const nameless = [...document.querySelectorAll(CONTROLS)].filter((each) => isSeen(each) && nameOf(each) === "");
  return nameless.map((each) => `${describe(each)} has no name`);
}

function nameOf(element) {
  const by = (element.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id));
  const labels = [...(element.labels ?? []), ...by].map((label) => label?.textContent ?? "");
  const field = element.matches("input, select, textarea");
  return [element.getAttribute("aria-label") ?? "", ...labels, field ? "" : element.textContent].join("").trim();
}

function lowContrast() {
  const faults = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() === "" || !isSeen(element) || element.closest(".unseen, :disabled, noscript"))
      continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const behind = backgroundOf(element);
    const ratio = contrast(over(parse(color), behind), behind);
    const size = Number.parseFloat(fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
    if (ratio < (isLarge ? LARGE_RATIO : NORMAL_RATIO))
      faults.add(`${describe(element)} has a contrast of ${ratio.toFixed(2)}`);
  }
  return [...faults];
}

/** What is behind a text: the colours of all that it lies on, from the page up. */
function backgroundOf(element) {
  const layers = [];
  for (let at = element; at !== null; at = at.parentElement)
    layers.unshift(parse(getComputedStyle(at).backgroundColor));
  return layers.reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
}

function parse(color) {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
  const scale = color.startsWith("color(") ? 255 : 1;
  return [red * scale, green * scale, blue * scale, alpha];
}

function over([red, green, blue, alpha], below) {
  return [...[red, green, blue].map((part, index) => part * alpha + below[index] * (1 - alpha)), 1];
}

function contrast(one, other) {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color) {
  const [red, green, blue] = color.slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function tablesWithoutHeaders() {
  return [...document.querySelectorAll("table")]
    .filter(isSeen)
    .flatMap((table) => [
      ...(table.caption === null && table.closest("[aria-label]") === null
        ? [`${describe(table)} has no caption`]
        : []),
      ...(table.querySelector("thead th[scope=col]") === null ? [`${describe(table)} has no headers`] : []),
    ]);
}

function brokenOutline() {
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")]
    .filter(isSeen)
    .map(({ tagName }) => Number(tagName[1]));
  const faults = levels.flatMap((level, at) =>
    at > 0 && level > levels[at - 1] + 1 ? [`a heading jumps to h${level}`] : [],
  );
  if (levels.filter((level) => level === 1).length !== 1) faults.push("there is not exactly one h1");
  if (document.documentElement.lang === "" || document.title === "")
    faults.push("the page has no language or no title");
  if (document.querySelectorAll("main").length !== 1) faults.push("there is not exactly one main part");
  if (document.querySelector("[tabindex]:not([tabindex='0'], [tabindex='-1'])"))
    faults.push("a tabindex changes the order");
  return faults;
}

function sharedIds() {
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  return ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `two elements have the id ${id}`);
}

/** A finger needs 44 pixels where a decision is made, and 24 anywhere (WCAG 2.5.8); links inside text are exempt. */
function tinyTargets() {
  const isPhone = innerWidth < 500;
  const least = (element) => (isPhone && element.matches(".button, input:not([type=checkbox]), select") ? 44 : 24);
  return [...document.querySelectorAll("button, input, select, textarea, summary, nav a")]
    .filter(
      (each) => isSeen(each) && each.getBoundingClientRect().height < least(each) - (each.type === "checkbox" ? 6 : 0),
    )
    .map((each) => `${describe(each)} is only ${Math.round(each.getBoundingClientRect().height)} pixels high`);
}

function overflow() {
  const { scrollWidth, clientWidth } = document.documentElement;
  return scrollWidth > clientWidth ? [`the page is ${scrollWidth} pixels wide in a window of ${clientWidth}`] : [];
}
