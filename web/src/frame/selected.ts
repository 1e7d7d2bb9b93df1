/** Text that the reader has selected, to ask why it is there. */

import { go, toView } from "../route.svelte";

const LONGEST = 400;

/** The text; absent where too little is selected, and for a secret, which the address would keep. */
export function selectedText(): string | undefined {
  const selection = getSelection();
  const node = selection?.anchorNode;
  const element = node instanceof Element ? node : node?.parentElement;
  const text = selection?.toString().trim() ?? "";
  return text.length >= 3 && element?.closest("main") && !element.closest("[data-secret]")
    ? text.slice(0, LONGEST)
    : undefined;
}

export function askWhy(text: string | undefined): void {
  if (text) go(toView("timeline", { why: text }));
}
