/** The workflow: its nodes, what relates them, and changing them. */

import { orNull } from "../../api/problem";
import type { Schemas } from "../../api/types";
import type { LiveSession } from "../../session/session.svelte";

export type Workflow = Schemas["Workflow"];
export type Node = Schemas["WorkflowNode"];
export type NodeStatus = Schemas["NodeStatus"];
export type Edge = Schemas["WorkflowEdge"];
export type NodeResult = Schemas["NodeResult"];

export const STATES: Record<NodeStatus, { text: string; dot: string }> = {
  not_run: { text: "not run", dot: "" },
  running: { text: "running", dot: "running" },
  success: { text: "success", dot: "ok" },
  failed: { text: "failed", dot: "danger" },
  skipped: { text: "skipped", dot: "warn" },
};

/** The workflow; `null` where the viewer may see none. */
export const readWorkflow = (session: LiveSession, signal: AbortSignal): Promise<Workflow | null> =>
  orNull(session.api.get("/v1/sessions/{session}/workflow", { signal }));

/** The result of a node's last execution; `null` before there is one. */
export const readResult = (session: LiveSession, node: string, signal: AbortSignal): Promise<NodeResult | null> =>
  orNull(session.api.get("/v1/sessions/{session}/workflow/nodes/{node}/result", { path: { node }, signal }));

/** How a node relates to others, in words. The order of the nodes says what comes next. */
export function relations(node: string, edges: readonly Edge[]): { words: string; node: string }[] {
  return edges.flatMap((edge) => {
    if (edge.from === node) return { words: edge.kind === "reads" ? "read by" : edge.kind, node: edge.to };
    if (edge.to === node) {
      const words = { next: "after", reads: "reads", route: "routed from" }[edge.kind];
      return { words, node: edge.from };
    }
    return [];
  });
}

/** A node as text, to show what changed in it. */
export const textOf = ({ type, description, config }: Node): string =>
  `${type}\n${description ?? ""}\n${JSON.stringify(config, null, 2)}`;
