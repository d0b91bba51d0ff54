// Loaded before a program, it gives it the newest majors of the SDKs.
import { registerHooks } from "node:module";
import { isReplaced } from "./packages.mjs";

registerHooks({
  resolve(specifier, context, next) {
    const replaced = isReplaced(specifier, context.parentURL);
    return next(specifier, replaced ? { ...context, parentURL: import.meta.url } : context);
  },
});
