/** Words about messages. */

import { count } from "../../format";
import type { MessageItem } from "./entries";

export const nameOf = (author: string): string => (author === "user" ? "You" : author);

/** To whom a message was said: `to critic`, `to you`, or in which thread. */
export function recipient(item: MessageItem, manager: string | undefined): string {
  if (item.to) return item.to === "user" ? "to you" : `to ${item.to}`;
  const thread = item.said.thread_id;
  const worker = thread.startsWith("agent:") ? thread.slice("agent:".length) : undefined;
  if (thread === "main" && item.by === "user") return manager ? `to ${manager}` : "in main";
  if (thread === "main" && item.by === manager) return "to you";
  if (worker === undefined) return `in ${thread}`;
  if (worker !== item.by) return `to ${worker}`;
  return manager ? `to ${manager}` : `in ${thread}`;
}

/** The size of a text in the measure that says most: `312 lines`, `84 characters`. */
export function lines(text: string): string {
  const found = text.split("\n").length;
  return found > 1 ? count(found, "line") : count(text.length, "character");
}

/** Arguments of a call in one line, as a program would write them. */
export function shortArguments(given: unknown): string {
  if (given === undefined || given === null) return "()";
  if (typeof given !== "object") return `(${String(given)})`;
  const all = Object.entries(given).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `(${all.join(", ")})`;
}
