/** What is in each view, as the side bar says it in a word. */

import { compact } from "../format";
import type { View } from "../route.svelte";
import { live } from "../session/live.svelte";
import { useSession } from "../session/session.svelte";
import { readSets } from "../views/context-sets/sets";
import { newestPlan } from "../views/plan/plan";
import { mayView } from "./views";

/** The words by view; absent where there is nothing to say, or not yet. */
export function amounts(): { of(view: View): string | undefined } {
  const session = useSession();
  const messages = live(
    async (signal) => {
      await whenIdle();
      const { threads } = await session.api.get("/v1/sessions/{session}/threads", { signal });
      return threads.reduce((sum, thread) => sum + thread.messages, 0);
    },
    ["thread.", "message.added", "agent.", "entry.erased"],
  );
  const sets = live(
    async (signal) => {
      await whenIdle();
      return (await readSets(session, signal)).length;
    },
    ["context_set.", "form.", "agent."],
  );
  const tasks = live(
    async (signal) => {
      if (!mayView(session, "plan")) return undefined;
      await whenIdle();
      const plan = await newestPlan(session, signal);
      const all = plan?.plan.phases.flatMap((phase) => phase.tasks) ?? [];
      return { all: all.length, done: all.filter((task) => task.status === "completed").length };
    },
    ["plan.", "agent."],
  );
  const some = (amount: number | undefined) => (amount ? compact(amount) : undefined);
  return {
    of(view) {
      if (view === "conversation") return some(messages.value);
      if (view === "context-sets") return some(sets.value);
      if (view === "plan") return tasks.value?.all ? `${tasks.value.done}/${tasks.value.all}` : undefined;
      // What is hidden from an agent is not counted for it either.
      return view === "timeline" && session.isUser ? some(session.head) : undefined;
    },
  };
}

/** What is asked for by the side bar alone waits until the view has asked. */
function whenIdle(): Promise<void> {
  return new Promise((done) => {
    if ("requestIdleCallback" in globalThis) requestIdleCallback(() => done(), { timeout: 500 });
    else setTimeout(done, 100);
  });
}
