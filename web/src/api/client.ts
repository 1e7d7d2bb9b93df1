/** Calls of the server, with the types of the OpenAPI document. */

import { Problem } from "./problem";
import type { paths } from "./schema";

type Method = "get" | "post" | "put" | "patch" | "delete";

/** The paths that have this method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: unknown } ? (paths[P][M] extends undefined ? never : P) : never;
}[keyof paths] &
  string;

type Operation<P extends keyof paths, M extends Method> = paths[P] extends { [K in M]: infer O }
  ? NonNullable<O>
  : never;

type JsonOf<T> = T extends { content: { "application/json": infer Body } } ? Body : undefined;

/** The answer of a call that succeeded. */
export type AnswerOf<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R } ? JsonOf<R[keyof R & (200 | 201)]> : never;

/** The body that a call takes. */
export type BodyOf<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { requestBody?: infer B } ? JsonOf<NonNullable<B>> : undefined;

type QueryOf<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { parameters: { query?: infer Q } } ? Partial<NonNullable<Q>> : never;

export interface Options<P extends keyof paths, M extends Method> {
  /** What stands for the names in braces of the path. */
  path?: Record<string, string | number>;
  query?: QueryOf<P, M>;
  body?: BodyOf<P, M>;
  /** The head on which the change builds: with another one it is refused (412). */
  ifMatch?: number;
  /** The idempotency key: a call that is repeated with it is done once. */
  key?: string;
  signal?: AbortSignal;
}

/** Called when the server wants a token. */
let onUnknownCaller: () => void = () => undefined;

export function whenTokenIsNeeded(call: () => void): void {
  onUnknownCaller = call;
}

/** Calls with fixed names in their paths and, where one looks as an agent, with `as`. */
export class Client {
  constructor(
    private readonly names: Record<string, string> = {},
    private readonly as?: string,
  ) {}

  readonly get = this.calls("get");
  readonly post = this.calls("post");
  readonly put = this.calls("put");
  readonly patch = this.calls("patch");
  readonly del = this.calls("delete");

  private calls<M extends Method>(method: M) {
    return <P extends PathOf<M>>(path: P, options: Options<P, M> = {}): Promise<AnswerOf<P, M>> =>
      this.call(method, path, options) as Promise<AnswerOf<P, M>>;
  }

  /** The URL of a call, for what is not JSON: streams and downloads. */
  url(path: string, names: Record<string, string | number> = {}, query: object = {}): URL {
    const all: Record<string, string | number> = { ...this.names, ...names };
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(all[name] ?? "")));
    const url = new URL(filled.slice(1), document.baseURI);
    const asked = this.as === undefined ? query : { as: this.as, ...query };
    for (const [key, value] of Object.entries(asked)) {
      if (value !== undefined && value !== null) url.searchParams.set(key, String(value));
    }
    return url;
  }

  private async call<P extends keyof paths, M extends Method>(
    method: M,
    path: P,
    options: Options<P, M>,
  ): Promise<unknown> {
    const headers = new Headers();
    if (options.body !== undefined) headers.set("content-type", "application/json");
    if (options.ifMatch !== undefined) headers.set("if-match", `"${options.ifMatch}"`);
    if (options.key !== undefined) headers.set("idempotency-key", options.key);
    const response = await send(this.url(path, options.path, options.query ?? {}), {
      method: method.toUpperCase(),
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal ?? null,
    });
    if (response.status === 204) return undefined;
    const text = await response.text();
    return text === "" ? undefined : JSON.parse(text);
  }
}

/** Sends a request; an answer that tells a problem is thrown. */
export async function send(url: URL, request: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...request, credentials: "same-origin" });
  if (response.ok) return response;
  if (response.status === 401 && !url.pathname.endsWith("/v1/login")) onUnknownCaller();
  throw await Problem.of(response);
}

/** Calls outside of a session. */
export const server = new Client();
