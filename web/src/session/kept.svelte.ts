/** State that outlives the component that shows it. */

import { SvelteMap } from "svelte/reactivity";

import { type LiveSession, useSession } from "./session.svelte";

const all = new WeakMap<LiveSession, SvelteMap<string, unknown>>();

export interface Kept<T> {
  value: T;
}

/**
 * A value that is still there when the row that shows it has left the page and comes back, or after a look at another
 * view. It is in memory alone and goes with the session as one viewer sees it, so nothing of it is left for other eyes.
 * `key` names the value within the session; one that is set to `initial` takes no room.
 */
export function kept<T>(key: () => string, initial: T): Kept<T> {
  const values = valuesOf(useSession());
  return {
    get value() {
      const name = key();
      return values.has(name) ? (values.get(name) as T) : initial;
    },
    set value(value: T) {
      if (value === initial) values.delete(key());
      else values.set(key(), value);
    },
  };
}

function valuesOf(session: LiveSession): SvelteMap<string, unknown> {
  const known = all.get(session) ?? new SvelteMap<string, unknown>();
  all.set(session, known);
  return known;
}
