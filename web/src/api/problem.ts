import type { ProblemBody } from "./types";

/** Why a call failed, in the words of the server. */
export class Problem extends Error {
  readonly status: number;
  /** Every field at fault, where the server names them. */
  readonly faults: readonly { pointer: string; detail: string }[];
  /** A stable word, such as `not_found`. */
  readonly code: string;
  readonly detail: string;
  readonly hint: string | undefined;
  /** The field at fault by its JSON pointer, such as `/visible_to`. */
  readonly field: string | undefined;

  constructor(body: Partial<ProblemBody> & { status: number }) {
    super(body.detail ?? body.title ?? "The call failed");
    this.status = body.status;
    this.code = body.code ?? `http_${body.status}`;
    this.detail = this.message;
    this.hint = body.hint ?? undefined;
    this.field = body.pointer ?? undefined;
    this.faults = body.errors ?? [];
  }

  /** The problem that an answer tells. Proxies answer in other forms, so the status alone may be known. */
  static async of(response: Response): Promise<Problem> {
    const text = await response.text();
    let body: Partial<ProblemBody> = {};
    if (response.headers.get("content-type")?.includes("json")) {
      try {
        body = JSON.parse(text) as Partial<ProblemBody>;
      } catch {
        body = { detail: text.slice(0, 200) };
      }
    }
    return new Problem({ title: response.statusText, ...body, status: response.status });
  }

  /** Any error as a problem, so that each is shown in the same way. */
  static from(error: unknown): Problem {
    if (error instanceof Problem) return error;
    if (error instanceof TypeError)
      return new Problem({ status: 0, code: "no_connection", detail: "The server does not answer" });
    return new Problem({
      status: 0,
      code: "page_error",
      detail: error instanceof Error ? error.message : String(error),
    });
  }
}

/** What a text says as JSON. Where it says nothing, the field with this JSON pointer is at fault. */
export function fromJson(text: string, pointer: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { detail } = Problem.from(error);
    const errors = [{ pointer, detail: `it is no JSON: ${detail}` }];
    throw new Problem({ status: 0, code: "no_json", detail: `It is no JSON: ${detail}`, pointer, errors });
  }
}

/** What a call answers; `null` where the thing is not there, or not for the caller to see. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Problem && (error.status === 404 || error.status === 403)) return null;
    throw error;
  }
}
