import { runnerImport } from "vite";

const [base = "http://127.0.0.1:7420", session = "outage"] = process.argv.slice(2);
const { module } = await runnerImport(new URL("./story.ts", import.meta.url).pathname);
await new module.Story(base, session).tell();
console.log(`${base}/sessions/${session}`);
