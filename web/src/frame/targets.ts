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
  const group = (name: string, icon: IconName, all: { text: string; to: string }[] = []): Target[] =>
    all.map((one) => ({ group: name, icon, ...one }));
  return [
    ...group(
      "Context sets",
      "eye",
      sets?.map(({ name }) => ({ text: name, to: toView("context-sets", { set: name }) })),
    ),
    ...group(
      "Threads",
      "chat",
      threads?.threads.map(({ name }) => ({ text: name, to: toView("conversation", { thread: name }) })),
    ),
    ...group(
      "Tasks",
      "plan",
      plan?.plan.phases
        .flatMap((phase) => phase.tasks)
        .map((task) => ({
          text: `Task ${task.task_id}: ${task.description}`,
          to: toView("plan", { task: task.task_id }),
        })),
    ),
    ...group(
      "Nodes",
      "workflow",
      workflow?.nodes.map(({ id, description }) => ({
        text: description ? `${id}: ${description}` : id,
        to: toView("workflow", { node: id }),
      })),
    ),
    ...group(
      "Variables",
      "variable",
      variables?.map(({ name }) => ({ text: name, to: toView("variables", { variable: name }) })),
    ),
    ...group(
      "Files",
      "file",
      files?.files.map(({ path }) => ({ text: nameOf(path), to: toView("files", { file: path }) })),
    ),
  ];
}
