/** Two prompts beside each other, piece by piece. */

import { diffArrays } from "diff";

import type { Piece } from "./pieces";

export type Row =
  | { kind: "same"; pieces: Piece[] }
  | { kind: "changed"; left: Piece; right: Piece }
  | { kind: "left" | "right"; pieces: Piece[] };

/** Rows in the order of the prompts. What is the same stands together, and so do messages that only one of them has. */
export function align(left: Piece[], right: Piece[]): Row[] {
  const rows: Row[] = [];
  let [at, to] = [0, 0];
  for (const { value, added, removed } of diffArrays(left, right, {
    comparator: (one, other) => one.key === other.key,
  })) {
    for (let step = 0; step < value.length; step += 1) {
      const [before, after] = [left[at], right[to]];
      if (!added) at += 1;
      if (!removed) to += 1;
      if (removed && before) only(rows, "left", before);
      else if (added && after) only(rows, "right", after);
      else if (before && after) both(rows, before, after);
    }
  }
  return rows;
}

function both(rows: Row[], left: Piece, right: Piece): void {
  const last = rows.at(-1);
  if (left.text !== right.text) rows.push({ kind: "changed", left, right });
  else if (last?.kind === "same") last.pieces.push(right);
  else rows.push({ kind: "same", pieces: [right] });
}

function only(rows: Row[], kind: "left" | "right", piece: Piece): void {
  const last = rows.at(-1);
  const isOfGroup = last?.kind === kind && isSaid(piece) && last.pieces.every(isSaid);
  if (isOfGroup) last.pieces.push(piece);
  else rows.push({ kind, pieces: [piece] });
}

export const isSaid = (piece: Piece) => piece.kind === "message" || /history|task/.test(piece.part);

/** `1 set, 2 other pieces and 118 messages`; nothing where there are none. */
export function amount(rows: Row[], kind: "left" | "right"): string {
  const pieces = rows.flatMap((row) => (row.kind === kind ? row.pieces : []));
  const sets = pieces.filter((piece) => piece.kind === "set").length;
  const said = pieces.filter((piece) => piece.kind !== "set" && isSaid(piece)).length;
  const parts = [
    counted(sets, "set"),
    counted(pieces.length - sets - said, "other piece"),
    counted(said, "message"),
  ].filter(Boolean);
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

const counted = (value: number, noun: string) => (value === 0 ? "" : `${value} ${noun}${value === 1 ? "" : "s"}`);
