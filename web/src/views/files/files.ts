/** What the path of a context file says. */

export const CATEGORIES = ["features", "documentation", "code", "refactoring", "testing", "tasks", "general"] as const;

/** The category is the folder; a file that lies elsewhere was tracked as it is, and is general. */
export function categoryOf(path: string): string {
  const folders = path.split(/[/\\]/).slice(0, -1);
  return CATEGORIES.find((category) => category === folders.at(-1)) ?? "general";
}

export const nameOf = (path: string): string => path.split(/[/\\]/).at(-1) ?? path;
