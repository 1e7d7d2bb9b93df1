// OpenAI's and Anthropic's clients for TypeScript, the AI SDK and LangChain at a base URL of Callboard, in front of a small model that
// llama.cpp serves.
// Arguments: the server's address, and the model.
import assert from "node:assert/strict";

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";

import { base, kept } from "./served.mjs";

const model = process.argv[3];
const COLOUR = { role: "user", content: "Name a warm colour, in one word." };
const NUMBERS = { role: "user", content: "Count from one to five, in words." };
// A model that was not asked anything before calls the tool.
const WATER = { role: "user", content: "How high is the water in Dover?" };
const DESCRIPTION = "The height of the water in a port";
const PARAMETERS = { type: "object", properties: { port: { type: "string" } }, required: ["port"] };

async function openai() {
  const ask = (session, more) => {
    const client = new OpenAI({ baseURL: base(session, "openai/v1"), apiKey: "any", maxRetries: 0 });
    return client.chat.completions.create({ model, max_tokens: 6, temperature: 0, ...more });
  };
  const plain = await ask("ts-real-openai", { messages: [COLOUR] });
  assert.ok(plain.choices[0].message.content.trim() && plain.usage.completion_tokens > 0);
  const pieces = [];
  const messages = [COLOUR, plain.choices[0].message, NUMBERS];
  for await (const chunk of await ask("ts-real-openai", { messages, stream: true })) pieces.push(chunk.choices[0].delta.content ?? "");
  assert.ok(pieces.filter((piece) => piece).length > 1, `${pieces}`);
  await kept("ts-real-openai", 4);
  const tools = [{ type: "function", function: { name: "water_level", description: DESCRIPTION, parameters: PARAMETERS } }];
  const asked = { messages: [WATER], tools, tool_choice: "required", max_tokens: 48 };
  const called = (await ask("ts-real-openai-tools", asked)).choices[0].message;
  assert.equal(called.tool_calls?.[0]?.function.name, "water_level", JSON.stringify(called));
  assert.ok("port" in JSON.parse(called.tool_calls[0].function.arguments));
  const results = called.tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "87 centimetres" }));
  const told = await ask("ts-real-openai-tools", { messages: [WATER, called, ...results], tools, tool_choice: "none" });
  assert.ok(told.choices[0].message.content.trim());
  await kept("ts-real-openai-tools", 3 + results.length);
}

async function anthropic() {
  const client = (session) => new Anthropic({ baseURL: base(session, "anthropic"), apiKey: "any", maxRetries: 0 }).messages;
  const asked = (more) => ({ model, max_tokens: 6, temperature: 0, ...more });
  const plain = await client("ts-real-anthropic").create(asked({ messages: [COLOUR] }));
  assert.ok(plain.content[0].text.trim() && plain.usage.output_tokens > 0);
  const pieces = [];
  const stream = client("ts-real-anthropic").stream(asked({ messages: [COLOUR, { role: "assistant", content: plain.content }, NUMBERS] }));
  const text = await stream.on("text", (piece) => pieces.push(piece)).finalText();
  assert.ok(pieces.length > 1 && text === pieces.join(""), `${pieces}`);
  await kept("ts-real-anthropic", 4);
  const tools = [{ name: "water_level", description: DESCRIPTION, input_schema: PARAMETERS }];
  const wanted = asked({ messages: [WATER], tools, tool_choice: { type: "any" }, max_tokens: 48 });
  const called = await client("ts-real-anthropic-tools").create(wanted);
  const uses = called.content.filter((block) => block.type === "tool_use");
  assert.ok(uses[0]?.name === "water_level" && "port" in uses[0].input, JSON.stringify(called));
  const results = uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "87 centimetres" }));
  const messages = [WATER, { role: "assistant", content: called.content }, { role: "user", content: results }];
  const told = await client("ts-real-anthropic-tools").create(asked({ messages, tools, tool_choice: { type: "none" } }));
  assert.ok(told.content[0].text.trim());
  await kept("ts-real-anthropic-tools", 3 + results.length);
}

async function aiSdk() {
  const provider = createOpenAICompatible({ name: "callboard", baseURL: base("ts-real-ai", "openai/v1"), apiKey: "any" });
  const asked = (messages) => ({ model: provider(model), messages, maxOutputTokens: 6, temperature: 0, maxRetries: 0 });
  const plain = await generateText(asked([COLOUR]));
  assert.ok(plain.text.trim());
  const pieces = [];
  for await (const piece of streamText(asked([COLOUR, ...plain.response.messages, NUMBERS])).textStream) pieces.push(piece);
  assert.ok(pieces.filter((piece) => piece).length > 1, `${pieces}`);
  await kept("ts-real-ai", 4);
}

async function langchain() {
  const configuration = { baseURL: base("ts-real-langchain", "openai/v1") };
  const chat = new ChatOpenAI({ model, apiKey: "any", maxRetries: 0, temperature: 0, maxTokens: 6, configuration });
  const [colour, numbers] = [COLOUR, NUMBERS].map(({ content }) => new HumanMessage(content));
  const plain = await chat.invoke([colour]);
  assert.ok(plain.text.trim());
  const pieces = [];
  for await (const chunk of await chat.stream([colour, plain, numbers])) pieces.push(chunk.text);
  assert.ok(pieces.filter((piece) => piece).length > 1, `${pieces}`);
  await kept("ts-real-langchain", 4);
}

for (const [name, tried] of [
  ["the OpenAI client for TypeScript", openai],
  ["the Anthropic client for TypeScript", anthropic],
  ["the AI SDK", aiSdk],
  ["LangChain", langchain],
]) {
  await tried();
  console.log(`${name} at the gateway with a real model: ok`);
}
