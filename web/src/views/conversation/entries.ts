/** What the conversation shows, made from entries of the journal. */

import type { Audience, Entry, Message } from "../../api/types";
import { author } from "../../design/agent";

/** A message as its entry holds it. */
export interface Said extends Omit<Partial<Message>, "thread_id" | "role" | "content" | "timestamp"> {
  thread_id: string;
  role: Message["role"];
  content: Message["content"];
  timestamp: string;
  tokens?: number;
  /** Who could see it when it was added, where the server says so. */
  audience?: Audience;
}

/** What was done beside the words: a set was written, the plan was changed. */
export interface Done {
  what: "set" | "plan";
  name: string;
  outcome: string;
  reason?: string | undefined;
  tokens?: number | undefined;
  audience?: Audience | undefined;
  seq?: number | undefined;
}

export interface Call {
  id: string;
  name: string;
  arguments: unknown;
  result?: { seq: number; text: string };
}

interface Common {
  /** Unique among the items. */
  key: string;
  seq: number;
  at: string;
  /** `user`, `system`, or the name of an agent. */
  by: string;
}

export interface MessageItem extends Common {
  kind: "message";
  said: Said;
  text: string;
  /** Its size in bytes, where the entry holds only the beginning of it. */
  whole?: number;
  calls: Call[];
  done: Done[];
  /** To whom the directive sent it. */
  to?: string;
  form?: string;
  /** What a check of the answer found. */
  check?: { valid: boolean | null; reason: string };
}

/** A directive that added no message. */
export interface DirectiveItem extends Common {
  kind: "directive";
  text: string;
  to?: string;
  form?: string;
  done: Done[];
  faults: string[];
}

export interface NoteItem extends Common {
  kind: "note";
  type: string;
  data: Record<string, unknown>;
  done: Done[];
}

export type Item = MessageItem | DirectiveItem | NoteItem;

/** What stands beside messages. */
export const SIDE_TYPES = [
  "directive.received",
  "context_set.updated",
  "context_set.deleted",
  "plan.updated",
  "message.checked",
  "conversation.compressed",
  "conversation.compression_undone",
  "run.started",
  "run.paused",
  "run.resumed",
  "run.ended",
  "turn.failed",
];
export const TYPES = ["message.added", ...SIDE_TYPES];

export interface Shown {
  /** The agent that looks; the user if absent. */
  viewer?: string | undefined;
  /** Only this thread; all if absent. */
  thread?: string | undefined;
  tools: boolean;
  changes: boolean;
}

/** The text of a message's content; a part that is no text is named. */
export function textOf(content: Message["content"] | undefined | null): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return beginningOf(content)?.beginning ?? JSON.stringify(content);
  return content.map((part) => part.text ?? `[${part.type}]`).join("\n");
}

/** What an entry holds of a value that is kept beside the journal, since it is large. */
function beginningOf(value: unknown): { beginning: string; size_bytes: number } | undefined {
  const kept = value as { beginning?: unknown; size_bytes?: unknown } | null | undefined;
  if (typeof kept !== "object" || typeof kept?.beginning !== "string") return undefined;
  return { beginning: kept.beginning, size_bytes: Number(kept.size_bytes) };
}

/** What is shown of entries that come in the order of their numbers. */
export function itemsOf(entries: readonly Entry[], shown: Shown): Item[] {
  const items: Item[] = [];
  const calls = new Map<string, Call>();
  const messages = new Map<string, MessageItem>();
  for (let first = 0; first < entries.length;) {
    let end = first + 1;
    // What was appended together has one time.
    while (end < entries.length && entries[end]?.at === entries[first]?.at) end += 1;
    append(entries.slice(first, end), shown, items, calls, messages);
    first = end;
  }
  return items;
}

function append(
  entries: Entry[],
  shown: Shown,
  items: Item[],
  calls: Map<string, Call>,
  messages: Map<string, MessageItem>,
): void {
  const hosts = new Map<string, MessageItem | DirectiveItem>();
  const changes: { entry: Entry; done: Done }[] = [];
  for (const entry of entries) {
    if (entry.type === "message.added") {
      const item = messageOf(entry, shown, calls);
      if (!item) continue;
      messages.set(`${item.said.thread_id}\n${item.said.message_id ?? ""}`, item);
      items.push(item);
      if (item.said.role === "AI") hosts.set(item.by, item);
    } else if (entry.type === "message.checked") {
      const { thread_id, message_id, valid, reason } = entry.data;
      const checked = messages.get(`${String(thread_id)}\n${String(message_id)}`);
      if (checked) checked.check = { valid: (valid ?? null) as boolean | null, reason: String(reason ?? "") };
    } else if (entry.type.startsWith("context_set.") || entry.type === "plan.updated") {
      changes.push({ entry, done: doneOf(entry) });
    } else if (entry.type === "directive.received") {
      directive(entry, shown, items, hosts, changes);
    } else if (isNoteShown(entry, shown)) {
      items.push({ kind: "note", ...common(entry), type: entry.type, data: entry.data, done: [] });
    }
  }
  for (const { entry, done } of changes) {
    const host = hosts.get(author(entry.by));
    if (host) host.done.push(done);
    else if (shown.changes && shown.thread === undefined)
      items.push({ kind: "note", ...common(entry), type: entry.type, data: entry.data, done: [done] });
  }
  if (changes.length > 0) sortEnd(items, entries.length);
}

/** Brings the items of one append into the order of their numbers. */
function sortEnd(items: Item[], most: number): void {
  const from = Math.max(0, items.length - most);
  items.push(...items.splice(from).sort((one, other) => one.seq - other.seq));
}

function messageOf(entry: Entry, shown: Shown, calls: Map<string, Call>): MessageItem | undefined {
  const said = entry.data as unknown as Said;
  if (shown.thread !== undefined && said.thread_id !== shown.thread) return undefined;
  const text = textOf(said.content);
  if (said.role === "TOOL") {
    const call = calls.get(`${said.thread_id}\n${said.tool_call_id ?? ""}`);
    if (call) call.result = { seq: entry.seq, text };
    if (call || !shown.tools) return undefined;
  }
  const made = (said.tool_calls ?? []).map((call): Call => ({ ...call, arguments: call.arguments }));
  for (const call of made) calls.set(`${said.thread_id}\n${call.id}`, call);
  if (!shown.tools && made.length > 0 && text.trim() === "") return undefined;
  const by = speakerOf(said, entry.by, shown.viewer);
  const kept = beginningOf(said.content);
  const size = kept ? { whole: kept.size_bytes } : {};
  return { kind: "message", ...common(entry), by, said, text, ...size, calls: shown.tools ? made : [], done: [] };
}

/**
 * Who says a message, as `viewer` is told; no viewer is the user. What a program tells the agent as which it works, in the agent's
 * own conversation at a base URL, the user says for that agent and for the user; for all other agents this one does.
 */
export function speakerOf(
  said: Partial<Pick<Said, "agent" | "role" | "thread_id">>,
  by: string,
  viewer?: string,
): string {
  const { agent, role, thread_id } = said;
  if (agent == null) return role === "SYSTEM" ? "system" : author(by);
  const isChat = thread_id === `chat:${agent}` || thread_id?.startsWith(`chat:${agent}:`);
  const isTold = isChat && (role === "USER" || role === "SYSTEM") && (viewer === undefined || viewer === agent);
  if (!isTold) return agent;
  return role === "SYSTEM" ? "system" : "user";
}

function directive(
  entry: Entry,
  shown: Shown,
  items: Item[],
  hosts: Map<string, MessageItem | DirectiveItem>,
  changes: { entry: Entry; done: Done }[],
): void {
  const by = author(entry.by);
  const data = entry.data as {
    outcomes?: { name: string; outcome: string; reason?: string }[];
    message_to?: string;
    message?: string;
    form?: string;
    faults?: { pointer: string; problem: string }[];
  };
  const done = (data.outcomes ?? []).map((outcome): Done => {
    const at = changes.findIndex((change) => change.done.what === "set" && change.done.name === outcome.name);
    const [change] = at < 0 ? [] : changes.splice(at, 1);
    return { ...change?.done, what: "set", name: outcome.name, outcome: outcome.outcome, reason: outcome.reason };
  });
  const asked = changes.findIndex((change) => change.done.name === data.form);
  if (data.form && asked >= 0) changes.splice(asked, 1);
  let host = hosts.get(by);
  if (!host) {
    const isOfThread = shown.thread === undefined || (shown.thread === "main" && data.message_to === "user");
    if (!isOfThread) return;
    const faults = (data.faults ?? []).map((fault) => fault.problem);
    host = { kind: "directive", ...common(entry), text: data.message ?? "", done: [], faults };
    items.push(host);
    hosts.set(by, host);
  }
  host.done.push(...done);
  if (data.message_to) host.to = data.message_to;
  if (data.form) host.form = data.form;
}

function doneOf(entry: Entry): Done {
  if (entry.type === "plan.updated")
    return { what: "plan", name: "Plan", outcome: `version ${String(entry.data["version"])}`, seq: entry.seq };
  return {
    what: "set",
    name: String(entry.data["name"] ?? entry.subject.replace(/^set:/, "")),
    outcome: entry.type === "context_set.deleted" ? "deleted" : "written",
    tokens: entry.data["tokens"] as number | undefined,
    audience: entry.data["visible_to"] as Audience | undefined,
    seq: entry.seq,
  };
}

function isNoteShown(entry: Entry, shown: Shown): boolean {
  if (shown.thread === undefined) return true;
  const thread = entry.data["thread"];
  return typeof thread === "string" ? thread === shown.thread : shown.thread === "main";
}

const common = (entry: Entry): Common => ({
  key: String(entry.seq),
  seq: entry.seq,
  at: entry.at,
  by: author(entry.by),
});
