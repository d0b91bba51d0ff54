import { type Report, type Subject, verifySubject } from "./verifying.js";

// Beside the page, so that it stays quick however long the chain is.
addEventListener("message", (event: MessageEvent<Subject>) => {
  void verifySubject(event.data, (report: Report) => postMessage(report));
});
