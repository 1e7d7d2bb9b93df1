/** How the states of runs are called and marked. */

import type { Run } from "../api/types";

const STATES: Record<string, { text: string; kind: "plain" | "ok" | "warn" | "danger" }> = {
  running: { text: "Running", kind: "ok" },
  awaiting_user: { text: "Waits for you", kind: "warn" },
  awaiting_tool: { text: "Waits for a tool", kind: "ok" },
  paused: { text: "Paused", kind: "plain" },
  completed: { text: "Completed", kind: "plain" },
  failed: { text: "Failed", kind: "danger" },
  cancelled: { text: "Cancelled", kind: "plain" },
};

export const stateOf = (status: string) => STATES[status] ?? { text: status, kind: "plain" as const };

/** Whether a run has ended. */
export function isOver(run: Run): boolean {
  return ["completed", "failed", "cancelled"].includes(run.status);
}
