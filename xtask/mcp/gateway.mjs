// Clients for TypeScript at a base URL of Callboard, in front of the model of `endpoint.py`. Argument: the server's address.
import assert from "node:assert/strict";

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

import { base, kept } from "./served.mjs";

const SHOWN = /^I was shown \d+ messages\.$/;
const SEEN = /^I was shown \d+ messages and the picture\.$/;
// A picture of one pixel.
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const ADDRESS = `data:image/png;base64,${PIXEL}`;
const WORD = z.object({ word: z.string() });
const PARAMETERS = { type: "object", properties: { word: { type: "string" } }, required: ["word"], additionalProperties: false };
const NAMES = ["look", "count"];

async function openai() {
  const client = new OpenAI({ baseURL: base("ts-openai", "openai/v1"), apiKey: "any", maxRetries: 0 });
  const messages = [
    { role: "system", content: "You count." },
    { role: "user", content: "How many?" },
  ];
  const ask = (more = {}) => client.chat.completions.create({ model: "gpt-4o", messages, ...more });
  const plain = await ask();
  assert.match(plain.choices[0].message.content, SHOWN);
  assert.equal(plain.usage.total_tokens, 56);
  messages.push(plain.choices[0].message, { role: "user", content: "And now?" });
  let streamed = "";
  for await (const chunk of await ask({ stream: true })) streamed += chunk.choices[0].delta.content ?? "";
  assert.match(streamed, SHOWN);
  messages.push({ role: "assistant", content: streamed }, { role: "user", content: "Look both up." });
  const tools = NAMES.map((name) => ({ type: "function", function: { name, parameters: PARAMETERS } }));
  const called = (await ask({ tools })).choices[0].message;
  assert.deepEqual(called.tool_calls.map((call) => call.function.name), NAMES);
  messages.push(called, ...called.tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: `Of ${id}.` })));
  const told = (await ask({ tools })).choices[0].message;
  assert.match(told.content, SHOWN);
  messages.push(told, { role: "user", content: "As JSON." });
  const schema = { name: "word", strict: true, schema: PARAMETERS };
  const structured = await ask({ response_format: { type: "json_schema", json_schema: schema } });
  assert.deepEqual(JSON.parse(structured.choices[0].message.content), { word: "tide" });
  const picture = { type: "image_url", image_url: { url: ADDRESS } };
  const lookedAt = { role: "user", content: [{ type: "text", text: "What is this?" }, picture] };
  messages.push(structured.choices[0].message, lookedAt);
  const seen = (await ask()).choices[0].message;
  assert.match(seen.content, SEEN);
  await kept("ts-openai", 13);
  const found = await client.embeddings.create({ model: "small", input: ["tide"], encoding_format: "float" });
  assert.deepEqual(found.data[0].embedding, [0.5, -0.5]);
  messages.push(seen, { role: "user", content: "Refuse." });
  await assert.rejects(ask(), (error) => error instanceof OpenAI.RateLimitError && /slowly/.test(error.message));
}

async function responses() {
  const client = new OpenAI({ baseURL: base("ts-responses", "openai/v1"), apiKey: "any", maxRetries: 0 });
  const input = [{ role: "user", content: "How many?" }];
  const asked = (more = {}) => ({ model: "gpt-4o", instructions: "You count.", input, ...more });
  const plain = await client.responses.create(asked());
  assert.match(plain.output_text, SHOWN);
  assert.equal(plain.usage.total_tokens, 56);
  input.push(...plain.output, { role: "user", content: "And now?" });
  let text = "";
  let streamed;
  for await (const event of await client.responses.create(asked({ stream: true }))) {
    if (event.type === "response.output_text.delta") text += event.delta;
    if (event.type === "response.completed") streamed = event.response;
  }
  assert.match(text, SHOWN);
  input.push(...streamed.output, { role: "user", content: "Look both up." });
  const tools = NAMES.map((name) => ({ type: "function", name, parameters: PARAMETERS, strict: true }));
  const called = await client.responses.create(asked({ tools }));
  assert.deepEqual(called.output.map((item) => item.name), NAMES);
  const results = called.output.map(({ call_id }) => ({ type: "function_call_output", call_id, output: `Of ${call_id}.` }));
  input.push(...called.output, ...results);
  const told = await client.responses.create(asked({ tools }));
  assert.match(told.output_text, SHOWN);
  input.push(...told.output, { role: "user", content: "As JSON." });
  const structured = await client.responses.parse(asked({ text: { format: zodTextFormat(WORD, "word") } }));
  assert.deepEqual(structured.output_parsed, { word: "tide" });
  const picture = { type: "input_image", image_url: ADDRESS, detail: "auto" };
  const lookedAt = { role: "user", content: [{ type: "input_text", text: "What is this?" }, picture] };
  input.push(...structured.output, lookedAt);
  const seen = await client.responses.create(asked());
  assert.match(seen.output_text, SEEN);
  // What was parsed goes back, and is known.
  await kept("ts-responses", 13);
  input.push(...seen.output, { role: "user", content: "Refuse." });
  await assert.rejects(client.responses.create(asked()), (error) => error instanceof OpenAI.RateLimitError && /slowly/.test(error.message));
}

async function anthropic() {
  const client = new Anthropic({ baseURL: base("ts-anthropic", "anthropic"), apiKey: "any", maxRetries: 0 });
  const messages = [{ role: "user", content: "How many?" }];
  const asked = (more) => ({ model: "claude-test", max_tokens: 100, system: "You count.", messages, ...more });
  const plain = await client.messages.create(asked());
  assert.match(plain.content[0].text, SHOWN);
  messages.push({ role: "assistant", content: plain.content }, { role: "user", content: "And now?" });
  const streamed = await client.messages.stream(asked()).finalMessage();
  assert.match(streamed.content[0].text, SHOWN);
  messages.push({ role: "assistant", content: streamed.content }, { role: "user", content: "Look both up." });
  const tools = NAMES.map((name) => ({ name, input_schema: PARAMETERS }));
  const called = await client.messages.stream(asked({ tools })).finalMessage();
  assert.deepEqual(called.content.map((block) => block.name), NAMES);
  const results = called.content.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: `Of ${id}.` }));
  messages.push({ role: "assistant", content: called.content }, { role: "user", content: results });
  const told = await client.messages.create(asked({ tools }));
  assert.match(told.content[0].text, SHOWN);
  messages.push({ role: "assistant", content: told.content }, { role: "user", content: "As JSON." });
  const structured = await client.messages.parse(asked({ output_config: { format: zodOutputFormat(WORD) } }));
  assert.deepEqual(structured.parsed_output, { word: "tide" });
  const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } };
  const lookedAt = { role: "user", content: [{ type: "text", text: "What is this?" }, picture] };
  messages.push({ role: "assistant", content: structured.content }, lookedAt);
  const seen = await client.messages.create(asked());
  assert.match(seen.content[0].text, SEEN);
  // What was parsed goes back, and is known.
  await kept("ts-anthropic", 13);
  messages.push({ role: "assistant", content: seen.content }, { role: "user", content: "Refuse." });
  await assert.rejects(client.messages.create(asked()), (error) => error instanceof Anthropic.RateLimitError);
}

async function aiSdk() {
  const provider = createOpenAICompatible({
    name: "callboard",
    baseURL: base("ts-ai", "openai/v1"),
    apiKey: "any",
    supportsStructuredOutputs: true,
  });
  const asked = (more) => ({ model: provider("gpt-4o"), system: "You count.", messages, maxRetries: 0, ...more });
  let messages = [{ role: "user", content: "How many?" }];
  const plain = await generateText(asked());
  assert.match(plain.text, SHOWN);
  messages = [...messages, ...plain.response.messages, { role: "user", content: "And now?" }];
  const streamed = streamText(asked());
  let text = "";
  for await (const part of streamed.textStream) text += part;
  assert.match(text, SHOWN);
  messages = [...messages, ...(await streamed.response).messages, { role: "user", content: "Look both up." }];
  const run = tool({ description: "Looks up", inputSchema: WORD, execute: async ({ word }) => `It is ${word}.` });
  const told = await generateText(asked({ tools: { look: run, count: run }, stopWhen: stepCountIs(2) }));
  assert.deepEqual(told.steps[0].toolCalls.map((call) => call.toolName), NAMES);
  assert.match(told.text, SHOWN);
  messages = [...messages, ...told.response.messages, { role: "user", content: "As JSON." }];
  const { object } = await generateObject(asked({ schema: WORD }));
  assert.deepEqual(object, { word: "tide" });
  const picture = { type: "image", image: PIXEL, mediaType: "image/png" };
  const lookedAt = { role: "user", content: [{ type: "text", text: "What is this?" }, picture] };
  messages = [...messages, { role: "assistant", content: JSON.stringify(object) }, lookedAt];
  assert.match((await generateText(asked())).text, SEEN);
  await kept("ts-ai", 13);
  messages = [{ role: "user", content: "Refuse." }];
  await assert.rejects(generateText(asked()), (error) => error.statusCode === 429 && /slowly/.test(error.message));
}

async function langchain() {
  const model = new ChatOpenAI({
    model: "gpt-4o",
    apiKey: "any",
    maxRetries: 0,
    configuration: { baseURL: base("ts-langchain", "openai/v1") },
  });
  const messages = [new SystemMessage("You count."), new HumanMessage("How many?")];
  const plain = await model.invoke(messages);
  assert.match(plain.text, SHOWN);
  messages.push(plain, new HumanMessage("And now?"));
  let streamed;
  for await (const chunk of await model.stream(messages)) streamed = streamed ? streamed.concat(chunk) : chunk;
  assert.match(streamed.text, SHOWN);
  messages.push(streamed, new HumanMessage("Look both up."));
  const tools = NAMES.map((name) => ({ type: "function", function: { name, parameters: PARAMETERS } }));
  const called = await model.bindTools(tools).invoke(messages);
  assert.deepEqual(called.tool_calls.map((call) => call.name), NAMES);
  messages.push(called, ...called.tool_calls.map(({ id }) => new ToolMessage({ tool_call_id: id, content: `Of ${id}.` })));
  const told = await model.bindTools(tools).invoke(messages);
  assert.match(told.text, SHOWN);
  messages.push(told, new HumanMessage("As JSON."));
  const structured = model.withStructuredOutput(WORD, { name: "word", method: "jsonSchema" });
  const object = await structured.invoke(messages);
  assert.deepEqual(object, { word: "tide" });
  const picture = { type: "image", data: PIXEL, mimeType: "image/png" };
  const lookedAt = new HumanMessage({ contentBlocks: [{ type: "text", text: "What is this?" }, picture] });
  messages.push(new AIMessage(JSON.stringify(object)), lookedAt);
  assert.match((await model.invoke(messages)).text, SEEN);
  await kept("ts-langchain", 13);
  await assert.rejects(model.invoke([new HumanMessage("Refuse.")]), /slowly/);
}

for (const [name, tried] of [
  ["the OpenAI client for TypeScript", openai],
  ["the OpenAI client for TypeScript on responses", responses],
  ["the Anthropic client for TypeScript", anthropic],
  ["the AI SDK", aiSdk],
  ["LangChain", langchain],
]) {
  await tried();
  console.log(`${name} at the gateway: ok`);
}
