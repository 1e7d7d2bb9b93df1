import type { Audience } from "../api/types";

/** Whether an agent is in an audience. */
export function sees(audience: Audience, agent: string): boolean {
  return (
    audience === "all" ||
    (audience !== "none" && (Array.isArray(audience) ? audience.includes(agent) : audience === agent))
  );
}

/** An audience as words. */
export function words(audience: Audience): string {
  if (audience === "all") return "all agents";
  if (audience === "none" || audience.length === 0) return "no agent";
  return Array.isArray(audience) ? audience.join(", ") : audience;
}
