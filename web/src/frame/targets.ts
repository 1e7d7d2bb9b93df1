/** Where the palette can go: views, and the things of the session by their names. */

import type { IconName } from "../design/icons";
import { toView, type View } from "../route.svelte";
import type { LiveSession } from "../session/session.svelte";
import { readSets } from "../views/context-sets/sets";
import { nameOf } from "../views/files/files";
import { newestPlan } from "../views/plan/plan";
import { readVariables } from "../views/variables/variables";
import { readWorkflow } from "../views/workflow/workflow";
import { mayView } from "./views";

export interface Target {
  group: string;
  text: string;
  icon: IconName;
  /** Where it goes, or what it does. */
  to: string | (() => void);
  seq?: number | undefined;
}

/** Entries that change what there is to go to. */
export const THINGS = ["thread.", "context_set.", "plan.", "node.", "variable.", "file."];

/** What has a name in the session, as far as the viewer may see it. What cannot be loaded is left out. */
export async function readThings(session: LiveSession, signal: AbortSignal): Promise<Target[]> {
  const of = async <T>(view: View, read: () => Promise<T>) => {
    const found = mayView(session, view) ? await read().catch(() => undefined) : undefined;
    signal.throwIfAborted();
    return found;
  };
  const [threads, sets, plan, workflow, variables, files] = await Promise.all([
    of("conversation", () => session.api.get("/v1/sessions/{session}/threads", { signal })),
    of("context-sets", () => readSets(session, signal)),
    of("plan", () => newestPlan(session, signal)),
    of("workflow", () => readWorkflow(session, signal)),
    of("variables", () => readVariables(session, signal)),
    session.me.project ? of("files", () => session.api.get("/v1/sessions/{session}/files", { signal })) : undefined,
  ]);
  /** A thing is chosen in its view by the value of `key`; it is called so, or as the text says. */
  const group = (
    name: string,
    icon: IconName,
    view: View,
    key: string,
    all: readonly [id: string | number, text?: string][] = [],
  ): Target[] => all.map(([id, text = String(id)]) => ({ group: name, icon, text, to: toView(view, { [key]: id }) }));
  const named = (all: readonly { name: string }[] | null | undefined) => all?.map(({ name }): [string] => [name]);
  const tasks = plan?.plan.phases.flatMap((phase) => phase.tasks);
  return [
    ...group("Context sets", "eye", "context-sets", "set", named(sets)),
    ...group("Threads", "chat", "conversation", "thread", named(threads?.threads)),
    ...group(
      "Tasks",
      "plan",
      "plan",
      "task",
      tasks?.map(({ task_id, description }) => [task_id, `Task ${task_id}: ${description}`]),
    ),
    ...group(
      "Nodes",
      "workflow",
      "workflow",
      "node",
      workflow?.nodes.map(({ id, description }) => [id, description ? `${id}: ${description}` : id]),
    ),
    ...group("Variables", "variable", "variables", "variable", named(variables)),
    ...group(
      "Files",
      "file",
      "files",
      "file",
      files?.files.map(({ path }) => [path, nameOf(path)]),
    ),
  ];
}
