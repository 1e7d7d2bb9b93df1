/** The chain of a text: who said it, shared it and planned it, whom prompts showed it, and who was never shown it. */

import type { Schemas } from "../../api/types";
import type { IconName } from "../../design/icons";
import { author } from "../../design/agent";
import { words } from "../../design/audience";

export type Finding = Schemas["Finding"];

/** What a finding says, and its sign. */
export function said({ by, type, subject, visible_to }: Finding): { icon: IconName; text: string } {
  const who = by === "user" ? "You" : author(by);
  const what = subject.slice(subject.indexOf(":") + 1);
  const audience = visible_to ? `, for ${words(visible_to)}` : "";
  if (type === "message.added") return { icon: "chat", text: `${who} said it in ${what}` };
  if (type.startsWith("context_set.")) return { icon: "eye", text: `${who} put it into ${what}${audience}` };
  if (type.startsWith("plan.")) return { icon: "plan", text: `${who} planned it` };
  if (type.startsWith("variable.")) return { icon: "variable", text: `${who} set the variable ${what}` };
  if (type.startsWith("node.") || type.startsWith("workflow."))
    return { icon: "workflow", text: `${who} built it into ${what}` };
  if (type.startsWith("document.") || type.startsWith("file."))
    return { icon: "file", text: `${who} added it in ${what}${audience}` };
  if (type === "conversation.compressed") return { icon: "compress", text: `A summary of ${what} holds it` };
  return { icon: "time", text: `${who}: ${type} ${what}` };
}

/** The prompts that showed it, each turn once. */
export function shownIn(findings: readonly Finding[]): { agent: string; turn: number; seq: number }[] {
  const turns = new Map(findings.flatMap((one) => one.shown ?? []).map((shown) => [shown.seq, shown]));
  return [...turns.values()].sort((one, other) => one.seq - other.seq);
}

/** Agents that no prompt showed it, with the things that are hidden from each. */
export function neverShown(
  findings: readonly Finding[],
  team: readonly string[],
): { agent: string; hidden: Finding[] }[] {
  const shown = new Set(shownIn(findings).map((one) => one.agent));
  return team
    .filter((agent) => !shown.has(agent))
    .map((agent) => ({ agent, hidden: findings.filter((one) => one.hidden_from?.includes(agent)) }));
}
