/** State that outlives the component that shows it. */

import { SvelteMap } from "svelte/reactivity";

import { useSession } from "./session.svelte";

const all = new WeakMap<object, SvelteMap<string, unknown>>();
/** Stands for the session outside of one. */
const NO_SESSION = {};

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

function valuesOf(session: object = NO_SESSION): SvelteMap<string, unknown> {
  const known = all.get(session) ?? new SvelteMap<string, unknown>();
  all.set(session, known);
  return known;
}

/** Where a list is: the first row in sight, how far its top is from that of the list, and which row was chosen. */
export interface Place {
  key: string | number;
  top: number;
  chosen?: string | number | undefined;
}

/** Where the list with this name was left; absent where it was not scrolled. */
export function keptPlace(name: () => string): Kept<Place | undefined> {
  return kept<Place | undefined>(() => `place in ${name()}`, undefined);
}
