/** What is in each view, as the side bar says it in a word. */

import { compact } from "../format";
import type { View } from "../route.svelte";
import { live } from "../session/live.svelte";
import { useSession } from "../session/session.svelte";
import { readSets } from "../views/context-sets/sets";
import { newestPlan } from "../views/plan/plan";
import { readVariables } from "../views/variables/variables";
import { readWorkflow } from "../views/workflow/workflow";
import { mayView } from "./views";

/** The words by view; absent where there is nothing to say, or not yet. */
export function amounts(): { of(view: View): string | undefined } {
  const session = useSession();
  const some = (amount: number | undefined) => (amount ? compact(amount) : undefined);
  const say = (view: View, affects: string[], read: (signal: AbortSignal) => Promise<string | null | undefined>) =>
    [
      view,
      live(
        async (signal) => {
          if (!mayView(session, view)) return undefined;
          await whenIdle();
          return read(signal);
        },
        [...affects, "agent."],
      ),
    ] as const;
  const said = new Map([
    say("conversation", ["thread.", "message.added"], async (signal) => {
      const { threads } = await session.api.get("/v1/sessions/{session}/threads", { signal });
      return some(threads.reduce((sum, thread) => sum + thread.messages, 0));
    }),
    say("context-sets", ["context_set.", "form."], async (signal) => some((await readSets(session, signal)).length)),
    say("plan", ["plan."], async (signal) => {
      const tasks = (await newestPlan(session, signal))?.plan.phases.flatMap((phase) => phase.tasks) ?? [];
      const done = tasks.filter((task) => task.status === "completed").length;
      return tasks.length > 0 ? `${done}/${tasks.length}` : undefined;
    }),
    say("workflow", ["workflow.", "node."], async (signal) =>
      some((await readWorkflow(session, signal))?.nodes.length),
    ),
    say("variables", ["variable."], async (signal) => some((await readVariables(session, signal))?.length)),
    say("steps", ["step.", "steps.", "sequence.", "session."], async (signal) => {
      if (!session.info?.steps?.length) return undefined;
      return (await session.api.get("/v1/sessions/{session}/orchestration", { signal })).active_step;
    }),
  ]);
  return {
    of(view) {
      // What is hidden from an agent is not counted for it either.
      if (view === "timeline") return session.isUser ? some(session.head) : undefined;
      return said.get(view)?.value ?? undefined;
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
