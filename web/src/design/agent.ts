/** How agents look: a colour by their place in the team, and two letters of their name. */

const COLOURS = 8;

/** The colour of the agent at this place, from 1, which `--agent` is set to. The ninth begins again: the letters differ. */
export function agentColour(place: number): string {
  return place < 1 ? "" : `var(--agent-${((place - 1) % COLOURS) + 1})`;
}

/** Two letters that stand for a name; the user is `You`. */
export function letters(name: string): string {
  if (name === "user") return "Y";
  const [first = "", second = ""] = name.match(/[\p{L}\p{N}]/gu) ?? [];
  return first.toUpperCase() + second.toLowerCase();
}

/** The name of the author of an entry: `user`, `system`, or an agent. */
export function author(by: string): string {
  return by.startsWith("agent:") ? by.slice("agent:".length) : by;
}
