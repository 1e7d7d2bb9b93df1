/** The views as the side bar shows them, in its groups. */

import type { IconName } from "../design/icons";
import type { View } from "../route.svelte";
import type { LiveSession } from "../session/session.svelte";

export interface ViewInfo {
  view: View;
  title: string;
  icon: IconName;
  /** The letter after `g` that goes there. */
  key?: string;
}

export const GROUPS: { title: string; views: ViewInfo[] }[] = [
  {
    title: "Work with the team",
    views: [
      { view: "conversation", title: "Conversation", icon: "chat", key: "c" },
      { view: "context-sets", title: "Context sets", icon: "eye", key: "s" },
      { view: "plan", title: "Plan", icon: "plan", key: "p" },
      { view: "files", title: "Files", icon: "file", key: "f" },
    ],
  },
  {
    title: "What agents see",
    views: [
      { view: "prompt", title: "Prompt", icon: "prompt", key: "r" },
      { view: "context", title: "Context size", icon: "size", key: "z" },
      { view: "timeline", title: "Timeline", icon: "time", key: "t" },
      { view: "recall", title: "Recall", icon: "recall" },
    ],
  },
  {
    title: "Work",
    views: [
      { view: "workflow", title: "Workflow", icon: "workflow" },
      { view: "variables", title: "Variables", icon: "variable" },
      { view: "browser", title: "Browser", icon: "browser" },
      { view: "steps", title: "Steps", icon: "steps" },
      { view: "access", title: "Access", icon: "key" },
    ],
  },
];

export const ALL_VIEWS = GROUPS.flatMap((group) => group.views);

export const titleOf = (view: View): string => ALL_VIEWS.find((one) => one.view === view)?.title ?? view;

/** The views of what the session shares with workers only if it says so. */
const SHARED: readonly View[] = ["plan", "workflow", "variables", "browser"];

/** Whether the viewer has a right to a view. One that it has no right to is absent, not grey. */
export function mayView(session: LiveSession, view: View): boolean {
  if (view === "access") return session.isUser;
  if (session.isInCharge) return true;
  return !SHARED.includes(view) || (session.info?.share ?? []).some((shared) => shared === view);
}
