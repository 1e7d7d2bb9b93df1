import { runnerImport } from "vite";

const { module } = await runnerImport(new URL("./speed.ts", import.meta.url).pathname);
await module.measure();
