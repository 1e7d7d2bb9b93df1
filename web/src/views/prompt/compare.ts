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
  const paired = pairsOf(left, right);
  let next = 0;
  /** What only the right one has before this piece of both. */
  const upTo = (key: string | undefined) => {
    for (let piece = right[next]; piece && piece.key !== key; piece = right[next]) {
      only(rows, "right", piece);
      next += 1;
    }
  };
  for (const piece of left) {
    if (!paired.has(piece.key)) only(rows, "left", piece);
    else {
      upTo(piece.key);
      both(rows, piece, right[next] ?? piece);
      next += 1;
    }
  }
  upTo(undefined);
  return rows;
}

/** The keys of what both have in the same order. What only one has is left out at once: to compare it would take long. */
function pairsOf(left: Piece[], right: Piece[]): Set<string> {
  const keys = (pieces: Piece[]) => pieces.map((piece) => piece.key);
  const [before, after] = [new Set(keys(left)), new Set(keys(right))];
  const shared = diffArrays(
    keys(left).filter((key) => after.has(key)),
    keys(right).filter((key) => before.has(key)),
  );
  return new Set(shared.flatMap((part) => (part.added || part.removed ? [] : part.value)));
}

function both(rows: Row[], left: Piece, right: Piece): void {
  const last = rows.at(-1);
  if (left.text !== right.text) rows.push({ kind: "changed", left, right });
  else if (last?.kind === "same") last.pieces.push(right);
  else rows.push({ kind: "same", pieces: [right] });
}

function only(rows: Row[], kind: "left" | "right", piece: Piece): void {
  const last = rows.at(-1);
  const isOfGroup = last?.kind === kind && isSaid(piece) && last.pieces.slice(-1).every(isSaid);
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
