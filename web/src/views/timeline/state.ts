/** What was true at an entry, folded from the journal: sets, plan and variables. */

import type { Audience, Entry } from "../../api/types";
import { words } from "../../design/audience";

/** A thing at one place, as text to compare. */
export interface Thing {
  kind: "Context sets" | "Plan" | "Variables";
  name: string;
  text: string;
}

/** The types of the entries that make the state. */
export const TYPES_OF_STATE = "context_set.updated,context_set.deleted,plan.updated,variable.set,variable.cleared";

/** The state after these entries, by names that no two things share. */
export function fold(entries: readonly Entry[]): Map<string, Thing> {
  const state = new Map<string, Thing>();
  for (const { type, data } of entries) {
    const name = typeof data["name"] === "string" ? data["name"] : "";
    if (type === "context_set.updated") state.set(`set:${name}`, { kind: "Context sets", name, text: textOfSet(data) });
    if (type === "context_set.deleted") state.delete(`set:${name}`);
    if (type === "plan.updated") state.set("plan", { kind: "Plan", name: "Plan", text: pretty(data["plan"]) });
    if (type === "variable.set")
      state.set(`variable:${name}`, { kind: "Variables", name, text: String(data["display"]) });
    if (type === "variable.cleared") {
      if (name) state.delete(`variable:${name}`);
      else for (const key of [...state.keys()]) if (key.startsWith("variable:")) state.delete(key);
    }
  }
  return state;
}

const pretty = (value: unknown) => JSON.stringify(value, null, 2) ?? "";

function textOfSet(data: Entry["data"]): string {
  const content = typeof data["content"] === "string" ? data["content"] : pretty(data["content"]);
  const audience = data["visible_to"] === undefined ? "" : `for ${words(data["visible_to"] as Audience)}\n`;
  return `${audience}${data["enabled"] === false ? "switched off\n" : ""}${content}`;
}

export interface Changed extends Thing {
  key: string;
  how: "added" | "removed" | "changed";
  before: string;
}

/** What differs between two states, and how many things are the same. */
export function compare(before: Map<string, Thing>, after: Map<string, Thing>): { changed: Changed[]; same: number } {
  const changed: Changed[] = [];
  let same = 0;
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(key), after.get(key)];
    if (old && now && old.text === now.text) same += 1;
    else if (now) changed.push({ ...now, key, how: old ? "changed" : "added", before: old?.text ?? "" });
    else if (old) changed.push({ ...old, key, text: "", how: "removed", before: old.text });
  }
  const kinds: Thing["kind"][] = ["Context sets", "Plan", "Variables"];
  changed.sort((one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind));
  return { changed, same };
}
