/** Text that the reader has selected, to ask why it is there. */

import { go, toView } from "../route.svelte";

const LONGEST = 400;

/** The text; absent where too little is selected, and where a part of it is a secret, which the address would keep. */
export function selectedText(): string | undefined {
  const selection = getSelection();
  const node = selection?.anchorNode;
  const element = node instanceof Element ? node : node?.parentElement;
  if (!selection || !element?.closest("main")) return undefined;
  const secrets = [...document.querySelectorAll("[data-secret]")];
  if (secrets.some((secret) => selection.containsNode(secret, true))) return undefined;
  const text = selection.toString().trim();
  return text.length >= 3 ? text.slice(0, LONGEST) : undefined;
}

export function askWhy(text: string | undefined): void {
  if (text) go(toView("timeline", { why: text }));
}
