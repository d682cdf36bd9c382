// The licences of all that is in the bundle, which must go where the bundle goes.
import { readFileSync, writeFileSync } from "node:fs";

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const bundled = Object.entries(lock.packages).filter(([path, one]) => path && !one.dev);
const parts = bundled.map(([path, one]) => {
  const name = path.replace(/^.*node_modules\//, "");
  return `${name} ${one.version} (${one.license})\n\n${readFileSync(`${path}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync("../srcgrad/interface/explorer/static/LICENCES.txt", `editor.js holds:\n\n${parts.join("\n\n")}`);
