#!/usr/bin/env node
// Stands here and not in dist, because npm links commands at install, before anything is built.
import("../dist/bundle/main.js").catch((error) => {
  if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error;
  console.error("bursar is not built yet; run: npm run build");
  process.exitCode = 1;
});
