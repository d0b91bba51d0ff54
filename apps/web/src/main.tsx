import { render } from "preact";
import { restoreTheme } from "./parts/theme.js";
import { App } from "./shell/app.js";
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
