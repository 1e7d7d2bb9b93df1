/** The plan: its versions, what changed between them, and writing it. */

import { orNull, Problem } from "../../api/problem";
import type { Schemas } from "../../api/types";
import type { LiveSession } from "../../session/session.svelte";

export type Plan = Schemas["Plan"];
export type Phase = Schemas["PlanPhase"];
export type Task = Schemas["PlanTask"];
export type Status = Schemas["PlanStatus"];
export type Change = Schemas["PlanChange"];
export type Version = Schemas["PlanVersion"];

export const STATUSES: readonly Status[] = ["pending", "in_progress", "completed", "failed"];
export const WORDS: Record<Status, string> = {
  pending: "pending",
  in_progress: "in progress",
  completed: "completed",
  failed: "failed",
};

/** What the view shows. */
export interface PlanState {
  /** All versions, the newest first. */
  versions: Version[];
  shown: Plan;
  /** The version with which the one shown is compared; 0 where there is none. */
  against: number;
  changes: Change[];
}

/** The version that is wanted, compared with another; `null` where there is no plan that the viewer may see. */
export async function readPlan(
  session: LiveSession,
  wanted: number,
  against: number,
  signal: AbortSignal,
): Promise<PlanState | null> {
  const versions = await readVersions(session, signal);
  const newest = versions[0]?.version;
  if (newest === undefined) return null;
  const version = wanted >= 1 && wanted < newest ? wanted : newest;
  const from = against >= 1 && against < version ? against : version - 1;
  const shown = await session.api.get("/v1/sessions/{session}/plan/versions/{version}", { path: { version }, signal });
  if (from < 1) return { versions, shown, against: 0, changes: [] };
  const query = { from, to: version };
  const { changes } = await session.api.get("/v1/sessions/{session}/plan/diff", { query, signal });
  return { versions, shown, against: from, changes };
}

/** The plan as it is now; absent where there is none that the viewer may see. */
export async function newestPlan(session: LiveSession, signal: AbortSignal): Promise<Plan | undefined> {
  const version = (await readVersions(session, signal))[0]?.version;
  if (version === undefined) return undefined;
  return session.api.get("/v1/sessions/{session}/plan/versions/{version}", { path: { version }, signal });
}

async function readVersions(session: LiveSession, signal: AbortSignal): Promise<Version[]> {
  return (await orNull(session.api.get("/v1/sessions/{session}/plan/versions", { signal })))?.versions ?? [];
}

/** A task changed meanwhile, so what one did would undo what another did. */
export class Stale extends Error {
  constructor(readonly theirs: Task | undefined) {
    super("the task changed meanwhile");
  }
}

/** How often a change is tried again where something else was appended meanwhile. */
const ATTEMPTS = 6;

/** Changes a task, if what is changed still is as `seen` says. */
export async function changeTask(
  session: LiveSession,
  seen: Task,
  change: { status?: Status; notes?: string },
  reason: string,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const head = session.head;
    const { plan } = await session.api.get("/v1/sessions/{session}/plan");
    const now = plan.phases.flatMap((phase) => phase.tasks).find((task) => task.task_id === seen.task_id);
    const isAsSeen =
      now &&
      (change.status === undefined || now.status === seen.status) &&
      (change.notes === undefined || (now.notes ?? "") === (seen.notes ?? ""));
    if (!isAsSeen) throw new Stale(now);
    try {
      await session.api.patch("/v1/sessions/{session}/plan/tasks/{task}", {
        path: { task: seen.task_id },
        body: { ...change, reason },
        ifMatch: head,
      });
      return;
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 412 || attempt === ATTEMPTS) throw error;
      // The stream brings what was appended meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 30 * attempt));
    }
  }
}

/** What changed in a task or a phase, in a few words. */
export function told(change: Change, version: number): string {
  const name = (value: unknown) => (typeof value === "string" ? (WORDS[value as Status] ?? value) : "");
  if (change.change === "added") return `+ new in version ${version}`;
  if (change.change === "removed") return "− removed";
  if (change.change === "moved") return `moved from ${name(change.before)}`;
  if (change.field === "status") return `${name(change.before)} → ${name(change.after)}`;
  return `new ${(change.field ?? "text").replace("_", " ")}`;
}

/** Tasks of a phase in their order: single ones, and done ones that fold since more than three stand together. */
export function groups(tasks: readonly Task[], changed: ReadonlySet<number>): { folds: boolean; tasks: Task[] }[] {
  const result: { folds: boolean; tasks: Task[] }[] = [];
  for (const task of tasks) {
    const isQuiet = task.status === "completed" && !changed.has(task.task_id);
    const last = result.at(-1);
    if (last && last.folds === isQuiet) last.tasks.push(task);
    else result.push({ folds: isQuiet, tasks: [task] });
  }
  return result
    .map((group) => ({ ...group, folds: group.folds && group.tasks.length > 3 }))
    .reduce<{ folds: boolean; tasks: Task[] }[]>((all, group) => {
      const last = all.at(-1);
      if (last && !last.folds && !group.folds) last.tasks.push(...group.tasks);
      else all.push(group);
      return all;
    }, []);
}

/** The plan as one edits it: without the fields that the server sets. */
export function editable({ plan }: Plan): string {
  const { workflow_id, plan_version, created_at, updated_at, ...content } = plan;
  void [workflow_id, plan_version, created_at, updated_at];
  return JSON.stringify(content, null, 2);
}

/** What one begins with where there is no plan. */
export const FIRST = JSON.stringify(
  {
    overall_goal: "",
    current_phase: "Begin",
    phases: [
      {
        phase_name: "Begin",
        status: "pending",
        tasks: [{ task_id: 1, description: "", status: "pending" }],
      },
    ],
  },
  null,
  2,
);
