// The second version of the official TypeScript client against Callboard, over both transports, with the newest protocol and the ones
// before. Arguments: the binary, its store, and the server's address.
import assert from "node:assert/strict";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [callboard, store, server] = process.argv.slice(2);

/** What a client does in a session of its own. */
async function tried(session, mode, transport) {
  const capabilities = { elicitation: {} };
  const client = new Client({ name: "callboard-tests", version: "1" }, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { answer: "a short one" } }));
  await client.connect(transport);
  const isNewest = client.getNegotiatedProtocolVersion() === "2026-07-28";
  assert.equal(isNewest, mode === "auto", client.getNegotiatedProtocolVersion());
  const call = (name, args = {}) => client.callTool({ name, arguments: args });
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "get_prompt" && tool.outputSchema.required.includes("text")));
  const written = await call("write_context_set", { name: "Facts", content: "The sea rises." });
  assert.ok(!written.isError && typeof written.structuredContent.result === "string");
  const uri = `callboard://${session}/context-sets/Facts`;
  assert.equal((await client.readResource({ uri })).contents[0].text, "The sea rises.");
  assert.match((await call("get_prompt", { agent: "lead" })).structuredContent.text, /The sea rises\./);
  const refused = await call("read_context_set", { name: "Nothing" });
  assert.ok(refused.isError && /there is no context set/.test(refused.content[0].text));
  const answered = await call("answer_forms");
  assert.deepEqual(answered.structuredContent, { forms: [{ name: "Length", outcome: "answered" }] });
  await client.close();
}

async function post(path, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${server}/v1/sessions${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  assert.ok(response.ok, await response.text());
}

async function made(session) {
  await post("", { id: session, agents: [{ name: "lead", role: "manager" }] });
  const form = { name: "Length", fields: [{ key: "answer", valueType: "STRING", label: "Length", required: true }] };
  const directive = { messageTo: "user", message: "How long?", isInfoRequest: true, form };
  await post(`/${session}/directives?as=lead`, directive);
}

for (const mode of ["legacy", "auto"]) {
  const era = mode === "auto" ? "the newest protocol" : "an earlier protocol";
  await made(`${mode}-http`);
  await tried(`${mode}-http`, mode, new StreamableHTTPClientTransport(new URL(`${server}/mcp?session=${mode}-http`)));
  console.log(`the TypeScript client 2 over HTTP, ${era}: ok`);
  await made(`${mode}-stdio`);
  const args = ["mcp", "--session", `${mode}-stdio`, "--store", store];
  await tried(`${mode}-stdio`, mode, new StdioClientTransport({ command: callboard, args, stderr: "inherit" }));
  console.log(`the TypeScript client 2 over stdio, ${era}: ok`);
}
