import { render } from "preact";
import { App } from "./app.js";
import { restoreTheme } from "./parts/theme.js";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/parts.css";
import "./styles/pages.css";
import "./styles/start.css";

restoreTheme();
const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
