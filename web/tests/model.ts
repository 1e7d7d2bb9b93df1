/** A model that says what a test tells it to, over the chat API that every OpenAI-compatible endpoint has. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One answer: its pieces are sent one after the other. */
export interface Answer {
  pieces: string[];
  /** The answer does not end before this. */
  until?: Promise<void>;
  /** What is said after that. */
  rest?: string[];
}

export class Model {
  private answers: Answer[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Model> {
    let model: Model | undefined;
    const server = createServer((request, response) => void model?.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    model = new Model(server);
    return model;
  }

  /** What `OPENAI_BASE_URL` is to be. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** Says this when it is asked next. */
  say(...answers: Answer[]): void {
    this.answers.push(...answers);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked: string[] = [];
    for await (const piece of request) asked.push(String(piece));
    const { stream = false } = JSON.parse(asked.join("") || "{}") as { stream?: boolean };
    const { pieces, until, rest = [] }: Answer = this.answers.shift() ?? { pieces: ["{}"] };
    const count = pieces.length + rest.length;
    const usage = { prompt_tokens: 900, completion_tokens: count, total_tokens: 900 + count };
    if (!stream) {
      await until;
      const message = { role: "assistant", content: [...pieces, ...rest].join("") };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }], usage }));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    const send = (body: object) => response.write(`data: ${JSON.stringify(body)}\n\n`);
    const say = (content: string) => send({ choices: [{ index: 0, delta: { content } }] });
    pieces.forEach(say);
    await until;
    rest.forEach(say);
    send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage });
    response.end("data: [DONE]\n\n");
  }
}
