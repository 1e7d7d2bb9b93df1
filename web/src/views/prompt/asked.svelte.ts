/** Prompts as they are wished for: one call at a time, and what was wished for last is what comes next. */

import { Problem } from "../../api/problem";
import { isRewriting } from "../../session/journal";
import { Loading, type Live } from "../../session/live.svelte";
import type { LiveSession } from "../../session/session.svelte";
import { useSession } from "../../session/session.svelte";
import type { Prompt } from "./pieces";

/** Which prompt is wanted. */
export interface Wish {
  agent: string;
  thread?: string | undefined;
  format?: "text" | "openai" | "responses" | "anthropic";
  budget?: number | undefined;
  layout?: "team" | "plain" | "director" | undefined;
  model?: string | undefined;
  /** As of this entry. If absent: as of now, which the head of the journal stands for. */
  at?: number | undefined;
  head?: number;
  /** As this turn sent it. */
  turn?: number | undefined;
}

/** So many prompts of the past are kept, since nothing changes them. */
const KEPT = 24;

/**
 * Asks for a prompt whenever what is wished for changes. A slider that moves does not break off a call for the next one:
 * each answer is drawn as it comes, so the prompt follows the hand.
 */
export function ask(wish: () => Wish | undefined): Live<Prompt> {
  const session = useSession();
  const kept = new Map<string, Prompt>();
  const aborter = new AbortController();
  let again = $state(0);
  const state = new Loading<Prompt>(() => void (again += 1));
  let next: Wish | undefined;
  /** What was asked last: the same is not asked again, since a choice beside it changes nothing in it. */
  let last: string | undefined;
  /** Of which prompt the value is, whatever the entry. */
  let about: string | undefined;
  let isAsking = false;

  async function work() {
    isAsking = true;
    while (next) {
      const wanted: Wish = next;
      next = undefined;
      try {
        const key = JSON.stringify(wanted);
        const got = kept.get(key) ?? (await read(session, wanted, aborter.signal));
        if (aborter.signal.aborted) return;
        if (wanted.at !== undefined || wanted.turn !== undefined) keep(key, got);
        if (aboutOf(wanted) !== about) continue;
        state.value = got;
        state.error = undefined;
      } catch (reason) {
        if (aborter.signal.aborted) return;
        state.error = Problem.from(reason);
      }
      state.loading = false;
    }
    isAsking = false;
  }

  function keep(key: string, prompt: Prompt) {
    kept.delete(key);
    kept.set(key, prompt);
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT) return;
      kept.delete(oldest);
    }
  }

  $effect(() => {
    const wanted = wish();
    const asked = wanted && `${again} ${JSON.stringify(wanted)}`;
    if (asked === last) return;
    last = asked;
    next = wanted;
    const now = next && aboutOf(next);
    if (now !== about) {
      // What one agent is told never stands under the name of another, not even until the next answer comes.
      about = now;
      state.value = undefined;
      state.loading = true;
    }
    if (next && !isAsking) void work();
  });
  // Words that were hidden since are not kept here either.
  $effect(() =>
    session.onEntry((entry) => {
      if (!isRewriting(entry)) return;
      kept.clear();
      again += 1;
    }),
  );
  $effect(() => () => aborter.abort());

  return state;
}

const aboutOf = ({ at: _, head: __, ...rest }: Wish) => JSON.stringify(rest);

async function read(session: LiveSession, wish: Wish, signal: AbortSignal): Promise<Prompt> {
  const { turn, head: _, ...asked } = wish;
  if (turn === undefined) return make(session, asked, signal);
  const path = { turn };
  const sent = await session.api.get("/v1/sessions/{session}/turns/{turn}/prompt", { path, signal });
  // The same prompt made again says of which pieces it is; where it is another one, the text stands alone.
  const { agent, thread, budget, seq } = sent;
  const again = await make(session, { agent, thread: thread ?? undefined, budget, at: seq }, signal).catch(
    () => undefined,
  );
  return again && again.text === sent.text ? { ...sent, pieces: again.pieces ?? null } : sent;
}

function make(session: LiveSession, asked: Omit<Wish, "turn" | "head">, signal: AbortSignal): Promise<Prompt> {
  const known = Object.entries(asked).filter(([, value]) => value !== undefined);
  const body = { ...Object.fromEntries(known), pieces: true };
  return session.api.post("/v1/sessions/{session}/prompt", { body, signal });
}
