// A writer and a critic share a board: each is shown what is meant for it, and what each says is kept.
//
//   callboard serve &
//   cd examples/typescript && npm ci && npm start
//
// CALLBOARD_URL says where the board is, OPENAI_BASE_URL and OPENAI_API_KEY where a model is. Without a model the
// prompts are printed that it would get.

const { CALLBOARD_URL = "http://127.0.0.1:7420", OPENAI_BASE_URL, OPENAI_API_KEY = "none", MODEL = "default" } = process.env;

interface Entry {
  seq: number;
  type: string;
  by: string;
}

interface ChatMessage {
  role: string;
  content: string;
}

interface Prompt {
  tokens: number;
  budget: number;
  text?: string;
  messages?: ChatMessage[];
}

interface Message {
  agent?: string;
  role: string;
  content: string;
}

/** Sends JSON and reads JSON. What the board refuses it explains: what, where, and what to do. */
async function send<T>(method: string, url: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  const answer = await fetch(url, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${url}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

const board = <T>(method: string, path: string, body?: unknown) =>
  send<T>(method, `${CALLBOARD_URL}/v1/sessions${path}`, body);

/** What happens in a session, entry by entry, as it happens, until `signal` ends it. */
async function* follow(session: string, after: number, signal: AbortSignal): AsyncGenerator<Entry> {
  const answer = await fetch(`${CALLBOARD_URL}/v1/sessions/${session}/events?after=${after}`, { signal });
  let rest = "";
  for await (const text of answer.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ")) yield JSON.parse(line.slice(6)) as Entry;
    }
  }
}

/** One turn of an agent: the prompt that it may see, a model's answer to it, and the answer on the board. */
async function turn(session: string, agent: string): Promise<void> {
  const wanted = { agent, thread: "main", format: "openai", budget: 4000 };
  const prompt = await board<Prompt>("POST", `/${session}/prompt`, wanted);
  console.log(`${agent} is shown ${prompt.tokens} of at most ${prompt.budget} tokens`);
  if (OPENAI_BASE_URL === undefined) {
    console.log(JSON.stringify(prompt.messages, undefined, 2));
    return;
  }
  const ask = { model: MODEL, messages: prompt.messages, max_tokens: 60 };
  const key = { Authorization: `Bearer ${OPENAI_API_KEY}` };
  type Completion = { choices: { message: ChatMessage }[] };
  const { choices } = await send<Completion>("POST", `${OPENAI_BASE_URL}/chat/completions`, ask, key);
  const content = choices[0]?.message.content ?? "";
  console.log(`${agent}: ${content}`);
  await board("POST", `/${session}/threads/main/messages?as=${agent}`, { messages: [{ role: "assistant", content }] });
}

const agents = [
  { name: "lead", role: "manager" },
  { name: "writer", role: "worker", instructions: "You write one sentence at a time." },
  { name: "critic", role: "worker", instructions: "You name one weakness in one sentence." },
];
const { id, head } = await board<{ id: string; head: number }>("POST", "", { title: "Tides", agents });

const ended = new AbortController();
const following = (async () => {
  for await (const { seq, type, by } of follow(id, head, ended.signal)) console.log(`  entry ${seq}: ${type} by ${by}`);
})().catch((error: Error) => {
  if (error.name !== "AbortError") throw error;
});

// What is shared, and with whom. The critic is not told what the writer was asked for.
await board("PUT", `/${id}/context-sets/Brief`, { content: "For sailors.", visible_to: ["lead", "writer"] });
await board("PUT", `/${id}/context-sets/Facts`, { content: "High water comes about 50 minutes later each day." });
const question = { role: "user", content: "Say when high water comes." };
await board("POST", `/${id}/threads/main/messages`, { messages: [question] });
await turn(id, "writer");
await turn(id, "critic");

const { text = "" } = await board<Prompt>("POST", `/${id}/prompt`, { agent: "critic", thread: "main" });
if (!text.includes("50 minutes") || text.includes("For sailors")) throw new Error("the critic saw what it must not");
console.log("the critic saw the facts, and never the brief");
const { messages } = await board<{ messages: Message[] }>("GET", `/${id}/threads/main/messages`);
for (const { agent = "user", content } of messages) console.log(`${agent}: ${content}`);

ended.abort();
await following;
