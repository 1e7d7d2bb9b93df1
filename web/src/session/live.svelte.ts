/** What a view shows: loaded once, and again when an entry changes it. */

import { untrack } from "svelte";

import { Problem } from "../api/problem";
import type { Entry } from "../api/types";
import { isRewriting } from "./journal";
import { useSession } from "./session.svelte";

/**
 * Which entries matter: beginnings of their types, such as `plan.`, or a function that decides. Those that hide words of
 * earlier ones always do.
 */
export type Affects = string[] | ((entry: Entry) => boolean);

/** The state of what is loaded, for who loads it. */
export class Loading<T> {
  /** What was loaded last. It stays while it is loaded again, or when that fails. */
  value = $state.raw<T>();
  /** Why loading failed the last time. */
  error = $state.raw<Problem>();
  /** Whether there is nothing to show yet. */
  loading = $state(true);
  /** Whether it is being loaded, for the first time or again. */
  busy = $state(false);

  /** `reload` loads now. */
  constructor(readonly reload: () => void) {}
}

/** The same for who shows it. */
export type Live<T> = Readonly<Loading<T>>;

/** Entries that come within so many milliseconds lead to one loading. */
const TOGETHER = 30;

/** After so many milliseconds what broke off is loaded again, where the server is there. */
const AGAIN = 1_000;

/**
 * Loads a thing for as long as the component lives. Whatever `load` reads before its first `await` (the place, a
 * choice) loads it again when it changes. While one loading is under way, new entries wait for its end, so a busy
 * session leads to one call after the other and never to many at once.
 */
export function live<T>(load: (signal: AbortSignal) => Promise<T>, affects: Affects): Live<T> {
  const session = useSession();
  let asked = $state(0);
  const state = new Loading<T>(() => void (asked += 1));
  let isStale = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;

  $effect(() => {
    void asked;
    const aborter = new AbortController();
    state.busy = true;
    isStale = false;
    load(aborter.signal)
      .then(
        (loaded) => {
          if (aborter.signal.aborted) return;
          state.value = loaded;
          state.error = undefined;
        },
        (reason: unknown) => {
          if (aborter.signal.aborted) return;
          const problem = Problem.from(reason);
          state.error = problem;
          if (problem.code === "no_connection" && session.connection === "connected")
            again = setTimeout(() => void (asked += 1), AGAIN);
        },
      )
      .finally(() => {
        if (aborter.signal.aborted) return;
        state.loading = false;
        state.busy = false;
        if (isStale) asked += 1;
      });
    return () => {
      aborter.abort();
      clearTimeout(again);
    };
  });

  $effect(() => {
    const changed = (): void => {
      isStale = true;
      timer ??= setTimeout(() => {
        timer = undefined;
        if (isStale && !state.busy) asked += 1;
      }, TOGETHER);
    };
    const ends = [
      session.onEntry((entry) => void (matters(affects, entry) && changed())),
      session.onUnstored((type) => void (isAffected(affects, type) && changed())),
    ];
    return () => {
      ends.forEach((end) => end());
      clearTimeout(timer);
    };
  });

  $effect(() => {
    // What could not be loaded while the server was away is loaded when it is back.
    if (session.connection !== "connected") return;
    if (untrack(() => state.error?.code) === "no_connection") asked = untrack(() => asked) + 1;
  });

  return state;
}

/** Waits so long, so that there is one call for what was typed, and not one for each letter. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  signal.throwIfAborted();
}

/** Whether an entry matters. A function is asked about every one: it may note what it hears. */
export function matters(affects: Affects, entry: Entry): boolean {
  const isWanted = typeof affects === "function" ? affects(entry) : isAffected(affects, entry.type);
  return isWanted || isRewriting(entry);
}

/** Whether an entry or event of this type matters by the beginning of its type. */
function isAffected(affects: Affects, type: string): boolean {
  return Array.isArray(affects) && affects.some((beginning) => type.startsWith(beginning));
}
