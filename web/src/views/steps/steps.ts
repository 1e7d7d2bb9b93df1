/** Steps in words. */

import type { Schemas } from "../../api/types";

type Step = Schemas["Step"];
type Condition = Schemas["Condition"];

/** What changes where the team is in its steps. */
export const AFFECTS = ["step.", "steps.", "sequence.", "tool.", "usage.", "turn.answered", "session."];

export function conditionWords(condition: Condition): string {
  const one = condition as {
    type?: string;
    value?: string;
    all?: Condition[];
    any?: Condition[];
    not?: Condition;
  };
  if (one.all) return `(${one.all.map(conditionWords).join(" and ")})`;
  if (one.any) return `(${one.any.map(conditionWords).join(" or ")})`;
  if (one.not) return `not ${conditionWords(one.not)}`;
  return one.type === "tool_used" ? `${one.value ?? "a tool"} was used` : "the last tools match its sequence";
}

/** Which tools may be used in a step. */
export function toolWords({ available_tools: tools }: Step): string {
  const allowed = tools?.allowed ? `Tools: ${tools.allowed.join(", ") || "none"}.` : "All tools.";
  return tools?.denied?.length ? `${allowed} Not: ${tools.denied.join(", ")}.` : allowed;
}

/** The newest first; one that was used several times in a row stands once. */
export function runsOf(tools: readonly string[]): { tool: string; times: number }[] {
  const runs: { tool: string; times: number }[] = [];
  for (const tool of tools.toReversed()) {
    const last = runs.at(-1);
    if (last?.tool === tool) last.times += 1;
    else runs.push({ tool, times: 1 });
  }
  return runs;
}
