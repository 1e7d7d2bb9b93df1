/** What changed from one text to another, line by line. */

import { diffLines } from "diff";

export interface Line {
  sign: "+" | "−" | " ";
  text: string;
}

/** Lines around a change that stay in sight. */
const AROUND = 2;

/** Texts with more changed lines than this are not compared: it would take long, and say little. */
const MOST_CHANGES = 1_000;

/** Lines that changed and those around them; of the others, how many stand together. */
export function rowsOf(before: string, after: string): (Line | { unchanged: number })[] {
  const lines = linesOf(before, after);
  const rows: (Line | { unchanged: number })[] = [];
  lines.forEach((line, index) => {
    const near = lines.slice(Math.max(0, index - AROUND), index + AROUND + 1);
    const last = rows.at(-1);
    if (near.some((one) => one.sign !== " ")) rows.push(line);
    else if (last && "unchanged" in last) last.unchanged += 1;
    else rows.push({ unchanged: 1 });
  });
  return rows;
}

function linesOf(before: string, after: string): Line[] {
  const parts = diffLines(before, after, { maxEditLength: MOST_CHANGES }) ?? [
    { removed: true, added: false, value: before },
    { removed: false, added: true, value: after },
  ];
  return parts.flatMap(({ added, removed, value }) => {
    const sign = added ? "+" : removed ? "−" : " ";
    const texts = value.replace(/\n$/, "").split("\n");
    return texts.map((text): Line => ({ sign, text }));
  });
}
