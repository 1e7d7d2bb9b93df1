/** Light or dark: the system's choice, until the reader makes another one. */

type Theme = "light" | "dark";

const KEY = "callboard.theme";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Shows the theme that was chosen before. */
export function followTheme(): void {
  const chosen = localStorage.getItem(KEY);
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;
}

export function switchTheme(): void {
  const now = document.documentElement.dataset["theme"] ?? (dark.matches ? "dark" : "light");
  const next: Theme = now === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = next;
  localStorage.setItem(KEY, next);
}
