/** Variables: reading, setting and clearing them. */

import { orNull } from "../../api/problem";
import { readEntries } from "../../session/journal";
import type { Entry, Schemas } from "../../api/types";
import type { LiveSession } from "../../session/session.svelte";

export type Variable = Schemas["Variable"];

/** All variables as the model sees them; `null` where the viewer may see none. */
export async function readVariables(session: LiveSession, signal: AbortSignal): Promise<Variable[] | null> {
  return (await orNull(session.api.get("/v1/sessions/{session}/variables", { signal })))?.variables ?? null;
}

/** The entries that set variables or cleared them, the oldest first. */
export function readChanges(session: LiveSession, signal: AbortSignal): Promise<Entry[]> {
  return readEntries(session, { types: "variable.set,variable.cleared,secret.revealed" }, signal);
}

/** A value as one edits it: a text bare, anything else as JSON. */
export const editable = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value, null, 2);
