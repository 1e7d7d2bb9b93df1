/** A text in stretches: those that contain a word of the question, and those that do not. */
export function marked(text: string, terms: readonly string[]): { text: string; isTerm: boolean }[] {
  const words = [...new Set(terms.flatMap((term) => term.split(/\s+/)))].filter((word) => word.length > 1);
  if (words.length === 0) return [{ text, isTerm: false }];
  const any = words
    .sort((one, other) => other.length - one.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|");
  // Words are compared in a form without endings, so the rest of a word belongs to it.
  const pattern = new RegExp(`((?<![\\p{L}\\p{N}])(?:${any})[\\p{L}\\p{N}]*)`, "iu");
  // What a group matches stands between what is around it.
  const all = text.split(pattern).map((part, index) => ({ text: part, isTerm: index % 2 === 1 }));
  return all.filter((one) => one.text !== "");
}
