/** The rows of the conversation: what was said and done, open forms that stand nowhere else, and answers under way. */

import type { ContextSet } from "../../api/types";
import type { LiveSession } from "../../session/session.svelte";
import type { Answer } from "./answering.svelte";
import type { Item } from "./entries";

export type Row =
  Item | { kind: "answer"; key: string; answer: Answer } | { kind: "form"; key: string; set: ContextSet };

export function rowsOf(items: Item[], answers: Answer[], forms: ContextSet[], thread: string | undefined): Row[] {
  const placed = new Set(items.flatMap((item) => ("form" in item && item.form ? [item.form] : [])));
  const isHere = thread === undefined || thread === "main";
  const open = isHere ? forms.filter((set) => set.form?.answered === false && !placed.has(set.name)) : [];
  return [
    ...items,
    ...open.map((set): Row => ({ kind: "form", key: `form ${set.name}`, set })),
    ...answers.map((answer): Row => ({ kind: "answer", key: answer.key, answer })),
  ];
}

/** The thread in which one speaks unless another is chosen; `undefined` where it may see none. */
export function writesTo(viewer: string, session: LiveSession): string;
export function writesTo(viewer: string, session: LiveSession, threads: string[] | undefined): string | undefined;
export function writesTo(viewer: string, session: LiveSession, threads?: string[]): string | undefined {
  const isWorker = viewer !== "user" && viewer !== session.manager?.name && session.manager !== undefined;
  const own = isWorker ? `agent:${viewer}` : "main";
  if (!threads || threads.includes(own) || !isWorker) return own;
  return threads.includes("main") ? "main" : threads[0];
}
