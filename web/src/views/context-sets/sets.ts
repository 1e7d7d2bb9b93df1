/** Changes of context sets. */

import type { Audience, ContextSet } from "../../api/types";
import { sees } from "../../design/audience";
import type { LiveSession } from "../../session/session.svelte";

export interface SetChange {
  content?: string;
  visible_to?: Audience;
  enabled?: boolean;
}

/** All sets that the viewer sees anything of. */
export async function readSets(session: LiveSession, signal: AbortSignal): Promise<ContextSet[]> {
  return (await session.api.get("/v1/sessions/{session}/context-sets", { signal })).context_sets;
}

/** Writes a set; what `change` leaves out stays as it is now. */
export async function changeSet(session: LiveSession, name: string, change: SetChange): Promise<void> {
  const path = { name };
  // Read again, so that a change of the audience does not put back a text that changed meanwhile.
  const now =
    change.content === undefined
      ? await session.api.get("/v1/sessions/{session}/context-sets/{name}", { path })
      : undefined;
  await session.api.put("/v1/sessions/{session}/context-sets/{name}", {
    path,
    body: { ...change, content: change.content ?? now?.content ?? "" },
  });
}

/** The audience with one agent more or less, in the team's order. */
export function toggled(audience: Audience, agent: string, team: readonly string[]): Audience {
  const names = team.filter((name) => sees(audience, name) !== (name === agent));
  if (names.length === 0) return "none";
  return names.length === team.length ? "all" : names;
}

/** Whether the viewer may change sets. */
export function mayChange(session: LiveSession): boolean {
  return session.isInCharge || Boolean(session.info?.grant?.includes("context_sets"));
}
