// The official TypeScript client against Callboard, over both transports. Arguments: the binary, its store, and the server's address.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [callboard, store, server] = process.argv.slice(2);

async function connected(transport) {
  const client = new Client({ name: "callboard-tests", version: "1" }, { capabilities: { elicitation: {} } });
  const told = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (message) => void told.push(message.params.uri));
  const asked = [];
  client.setRequestHandler(ElicitRequestSchema, (request) => {
    asked.push(request.params);
    return { action: "accept", content: { length: asked.length === 1 ? "endless" : "short", tags: "sea, tide" } };
  });
  await client.connect(transport);
  return { client, told, asked };
}

async function until(holds) {
  for (let tries = 0; tries < 1200 && !holds(); tries += 1) await new Promise((done) => setTimeout(done, 50));
  assert.ok(holds());
}

/** What a client does with one session, whose id is the argument. */
async function tried(session, transport) {
  const { client, told, asked } = await connected(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.length < 25 && tools.every((tool) => tool.annotations?.readOnlyHint !== undefined));
  const recall = tools.find((tool) => tool.name === "recall");
  assert.equal(recall.annotations.readOnlyHint, true);
  const address = `callboard://${session}/context-sets/Facts`;
  await client.subscribeResource({ uri: address });
  const call = (name, args = {}) => client.callTool({ name, arguments: args });
  const written = await call("write_context_set", { name: "Facts", content: "The sea rises." });
  assert.ok(!written.isError && typeof written.structuredContent.result === "string");
  const { contents } = await client.readResource({ uri: address });
  assert.equal(contents[0].text, "The sea rises.");
  await until(() => told.includes(address));
  assert.ok((await client.listResources()).resources.some((resource) => resource.uri === address));
  const prompt = await client.getPrompt({ name: "agent:lead" });
  assert.match(prompt.messages[0].content.text, /The sea rises\./);
  const refused = await call("read_context_set", { name: "Nothing" });
  assert.ok(refused.isError && /there is no context set/.test(refused.content[0].text));
  await assert.rejects(() => call("dance"), /there is no tool/);
  // A form reaches the person; the first answer is refused, and they are asked again.
  const answered = await call("answer_forms");
  assert.deepEqual(answered.structuredContent, { forms: [{ name: "Length", outcome: "answered" }] });
  assert.ok(asked.length === 2 && asked[0].requestedSchema.properties.length.enum.includes("short"));
  const set = await call("read_context_set", { name: "Length" });
  assert.match(set.content[0].text, /short/);
  await client.close();
}

async function made(session) {
  const { client } = await connected(new StreamableHTTPClientTransport(new URL(`${server}/mcp`)));
  const agents = [
    { name: "lead", role: "manager" },
    { name: "writer", role: "worker" },
  ];
  const { structuredContent } = await client.callTool({ name: "create_session", arguments: { id: session, agents } });
  assert.equal(structuredContent.id, session);
  await client.close();
  const form = {
    name: "Length",
    fields: [
      { key: "length", valueType: "ENUM", label: "Length", required: true, enumValues: ["short", "long"] },
      { key: "tags", valueType: "ARRAY", label: "Tags", required: false },
    ],
  };
  const directive = { messageTo: "user", message: "How long?", isInfoRequest: true, form };
  const response = await fetch(`${server}/v1/sessions/${session}/directives?as=lead`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(directive),
  });
  assert.equal(response.status, 200, await response.text());
}

/** A server on a store of its own, and where it listens. */
async function served(address) {
  const own = `${store}.typescript`;
  const words = ["serve", "--listen", address, "--store", own];
  const cwd = dirname(own.replace("sqlite:", ""));
  const child = spawn(callboard, words, { stdio: ["ignore", "pipe", "inherit"], cwd });
  const [line] = await once(createInterface(child.stdout), "line");
  return { child, url: line.replace("listening on ", "") };
}

async function killed({ child }) {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** A client whose server is killed and started again goes on. */
async function restarted() {
  let running = await served("127.0.0.1:0");
  try {
    const { url } = running;
    const { client } = await connected(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    const agents = [{ name: "lead", role: "manager" }];
    const made = await client.callTool({ name: "create_session", arguments: { id: "restarted", agents } });
    assert.ok(!made.isError, JSON.stringify(made));
    await killed(running);
    running = await served(url.replace("http://", ""));
    const wanted = { session: "restarted", agent: "lead" };
    const shown = await client.callTool({ name: "get_prompt", arguments: wanted });
    assert.ok(!shown.isError, JSON.stringify(shown));
    await client.close();
  } finally {
    await killed(running);
  }
}

await made("over-http");
await tried("over-http", new StreamableHTTPClientTransport(new URL(`${server}/mcp?session=over-http`)));
console.log("the TypeScript client over HTTP: ok");
await restarted();
console.log("the TypeScript client over a restart: ok");
await made("over-stdio");
const args = ["mcp", "--session", "over-stdio", "--store", store];
await tried("over-stdio", new StdioClientTransport({ command: callboard, args, stderr: "inherit" }));
console.log("the TypeScript client over stdio: ok");
