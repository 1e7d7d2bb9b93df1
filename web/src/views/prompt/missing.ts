/** What is not in a prompt, and why not. */

import { sees } from "../../design/audience";
import { partTitle } from "../../design/parts";
import type { Past, Since } from "./past.svelte";
import type { Prompt } from "./pieces";

export interface Missing {
  what: string;
  why: "hidden" | "off" | "left out" | "shortened" | "erased";
  /** Since which entry, and by whom, where the journal says so. */
  since: Since | undefined;
}

/** Hidden sets are named only where the past is given, which is for the user. */
export function missingFrom(prompt: Prompt | undefined, past: Past | undefined, agent: string, at: number): Missing[] {
  if (!prompt) return [];
  const sets = (past?.setsAt(at) ?? []).flatMap((set): Missing[] => {
    if (!set.enabled) return [{ what: set.name, why: "off", since: past?.offSince(set.name, at) }];
    if (sees(set.visible_to, agent)) return [];
    return [{ what: set.name, why: "hidden", since: past?.hiddenSince(set.name, agent, at) }];
  });
  const cut = prompt.parts.flatMap((part): Missing[] => {
    const omitted = part.omitted ?? [];
    if (omitted.length > 0) return omitted.map((what) => ({ what, why: "left out", since: undefined }));
    return part.shortened ? [{ what: `A piece of ${partTitle(part.name)}`, why: "shortened", since: undefined }] : [];
  });
  const erased = (prompt.erased ?? []).map((seq): Missing => ({
    what: `Words of entry ${seq}`,
    why: "erased",
    since: { seq, by: "user" },
  }));
  return [...sets, ...cut, ...erased];
}
