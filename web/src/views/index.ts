/** The views of a session. Each is a file of its own, which the browser loads when the view is opened. */

import type { Component } from "svelte";

import type { View } from "../route.svelte";

type Loaded = Promise<{ default: Component }>;

const LOADERS: Record<View, () => Loaded> = {
  conversation: () => import("./conversation/Conversation.svelte"),
  "context-sets": () => import("./context-sets/ContextSets.svelte"),
  plan: () => import("./plan/Plan.svelte"),
  workflow: () => import("./workflow/Workflow.svelte"),
  variables: () => import("./variables/Variables.svelte"),
  browser: () => import("./browser/Browser.svelte"),
  context: () => import("./context/Context.svelte"),
  prompt: () => import("./prompt/Prompt.svelte"),
  timeline: () => import("./timeline/Timeline.svelte"),
  files: () => import("./files/Files.svelte"),
  steps: () => import("./steps/Steps.svelte"),
  recall: () => import("./recall/Recall.svelte"),
  access: () => import("./access/Access.svelte"),
};

export const loadView = (view: View): Loaded => LOADERS[view]();
