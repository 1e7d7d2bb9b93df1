/** A text in stretches: those that contain a word of the question, and those that do not. */
export function marked(text: string, terms: readonly string[]): { text: string; isTerm: boolean }[] {
  const words = [...new Set(terms.flatMap((term) => term.split(/\s+/)))].filter((word) => word.length > 1);
  if (words.length === 0) return [{ text, isTerm: false }];
  const any = words
    .sort((one, other) => other.length - one.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|");
  // Words are compared in a form without endings, so the rest of a word belongs to it.
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})[\\p{L}\\p{N}]*`, "giu");
  const all: { text: string; isTerm: boolean }[] = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) all.push({ text: text.slice(at, match.index), isTerm: false });
    all.push({ text: match[0], isTerm: true });
    at = match.index + match[0].length;
  }
  if (at < text.length) all.push({ text: text.slice(at), isTerm: false });
  return all;
}
