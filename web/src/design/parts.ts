/** How the parts of prompts are called and coloured; one ramp, in the order of the prompt. */

const PARTS: Record<string, { title: string; colour: string }> = {
  format: { title: "Format", colour: "instructions" },
  instructions: { title: "Instructions", colour: "instructions" },
  system_prompt: { title: "Instructions", colour: "instructions" },
  team: { title: "Team", colour: "team" },
  duties: { title: "Duties", colour: "team" },
  steps: { title: "Steps", colour: "steps" },
  files: { title: "Files", colour: "steps" },
  context_sets: { title: "Context sets", colour: "sets" },
  current_plan: { title: "Plan", colour: "state" },
  workflow_snapshot: { title: "Workflow", colour: "state" },
  workflow_variables: { title: "Variables", colour: "state" },
  browser_state: { title: "Browser", colour: "state" },
  recall: { title: "Recall", colour: "recall" },
  history: { title: "History", colour: "history" },
  conversation_history: { title: "History", colour: "history" },
  task: { title: "Current task", colour: "task" },
};

/** What people call a part. A session's own layout has parts of its own. */
export const partTitle = (name: string): string => PARTS[name]?.title ?? name;

/** The colour of a part, which `--part` is set to. */
export const partColour = (name: string): string => `var(--part-${PARTS[name]?.colour ?? "state"})`;
