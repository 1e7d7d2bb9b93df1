import { runnerImport } from "vite";

const folder = process.env.CALLBOARD_SCREENSHOTS;
if (!folder) throw new Error("say in CALLBOARD_SCREENSHOTS into which folder the pictures go");
const { module } = await runnerImport(new URL("./screenshots.ts", import.meta.url).pathname);
await module.takeAll(folder);
