/** A prompt in pieces: what each entry says in it, where it stands, and what was shortened. */

import type { Schemas } from "../../api/types";
import { partTitle } from "../../design/parts";

/** A prompt as it would be now, or as a turn sent it. */
export type Prompt = Schemas["Prompt"] & { as_sent?: boolean };
type Placed = Schemas["PromptPiece"];

export interface Piece {
  /** Unlike that of any other piece of the prompt, and the same from one prompt to the next. */
  key: string;
  /** What it is called: the name of a set, who speaks, or the part. */
  title: string;
  kind: "set" | "message" | "part";
  part: string;
  seq: number | undefined;
  tokens: number | undefined;
  text: string;
  shortened: boolean;
}

/** Pieces that fold together: a part of the text, or a message of the formats for providers. */
export interface Section {
  key: string;
  title: string;
  part: string;
  /** The role of the message, which is a part of what is sent. */
  role: string | undefined;
  tokens: number | undefined;
  pieces: Piece[];
}

/** A text that stretches of the prompt stand in. */
interface Carrier {
  message: number | undefined;
  role: string | undefined;
  text: string;
  /** What it holds besides text, such as calls of tools. */
  more: string;
}

export function sectionsOf(prompt: Prompt): Section[] {
  const used = new Map<string, number>();
  const sections: Section[] = [];
  for (const carrier of carriersOf(prompt)) {
    const placed = (prompt.pieces ?? []).filter((one) => (one.message ?? undefined) === carrier.message);
    const cut = cutOf(carrier, placed).map((piece) => ({ ...piece, key: unlike(used, piece) }));
    if (carrier.role !== undefined) {
      const key = carrier.message === undefined ? "system" : `message-${carrier.message + 1}`;
      sections.push(sectionOf(key, carrier.role, cut, carrier.role));
    } else for (const [part, pieces] of runsOf(cut)) sections.push(sectionOf(part || "prompt", titleOf(part), pieces));
  }
  return sections;
}

const titleOf = (part: string) => (part === "" ? "Prompt" : partTitle(part));

function sectionOf(key: string, title: string, pieces: Piece[], role?: string): Section {
  const sizes = pieces.map((piece) => piece.tokens);
  const tokens = sizes.every((size) => size !== undefined) ? sizes.reduce((sum, size) => sum + size, 0) : undefined;
  return { key, title, part: pieces[0]?.part ?? "", role, tokens, pieces };
}

/** Pieces of one part that stand together. */
function runsOf(pieces: Piece[]): [string, Piece[]][] {
  const runs: [string, Piece[]][] = [];
  for (const piece of pieces) {
    const last = runs.at(-1);
    if (last?.[0] === piece.part) last[1].push(piece);
    else runs.push([piece.part, [piece]]);
  }
  return runs;
}

function cutOf({ text, more }: Carrier, placed: Placed[]): Piece[] {
  const slice = slicer(text);
  const pieces = placed.flatMap((one) => {
    const cut = slice(one.start, one.end);
    return cut === "" ? [] : [pieceOf(cut, one.part, one.seq ?? undefined, one.tokens, one.shortened)];
  });
  if (pieces.length === 0 && text !== "") pieces.push(pieceOf(text, "", undefined, undefined, true));
  if (more !== "") pieces.push(pieceOf(more, pieces.at(-1)?.part ?? "", pieces.at(-1)?.seq, undefined, false));
  return pieces;
}

function pieceOf(
  text: string,
  part: string,
  seq: number | undefined,
  tokens: number | undefined,
  shortened: boolean,
): Piece {
  const [, set] = /^<CONTEXT_SET name="([^"]*)"/.exec(text) ?? [];
  const [, speaker] = /^<CHAT_MESSAGE from="([^"]*)"/.exec(text) ?? [];
  const [, variable] = (part === "workflow_variables" && /^- (.+?) = /.exec(text)) || [];
  const isMessage = speaker !== undefined || (seq !== undefined && /(^|_)(history|task)$/.test(part));
  const kind = set !== undefined ? "set" : isMessage ? "message" : "part";
  const title = unescape(set ?? speaker ?? variable ?? titleOf(part));
  return { key: "", title, kind, part, seq, tokens, text, shortened };
}

function unescape(text: string): string {
  const signs: Record<string, string> = { quot: '"', lt: "<", gt: ">", amp: "&" };
  return text.replace(/&(quot|lt|gt|amp);/g, (_, name: string) => signs[name] ?? "");
}

function unlike(used: Map<string, number>, piece: Piece): string {
  const key = keyOf(piece);
  const times = used.get(key) ?? 0;
  used.set(key, times + 1);
  return times === 0 ? key : `${key} (${times + 1})`;
}

/** The same for the same thing in two prompts: sets and variables by name, so that versions stand beside each other, and so the plan. */
function keyOf({ kind, title, part, seq }: Piece): string {
  if (kind === "set") return `set ${title}`;
  if (part === "workflow_variables" && seq !== undefined) return `variable ${title}`;
  return seq !== undefined && (kind === "message" || part === "recall") ? `entry ${seq}` : `part ${part}`;
}

function carriersOf(prompt: Prompt): Carrier[] {
  if (typeof prompt.text === "string") {
    return [{ message: undefined, role: undefined, text: prompt.text, more: "" }];
  }
  if (prompt.input) {
    const instructions = { message: undefined, role: "system", text: prompt.instructions ?? "", more: "" };
    return [instructions, ...prompt.input.map((one, index) => itemOf(one as Item, index))];
  }
  const system = prompt.system ? [carrierOf({ role: "system", content: prompt.system }, undefined)] : [];
  return [...system, ...(prompt.messages ?? []).map((one, index) => carrierOf(one as Sent, index))];
}

interface Item extends Sent {
  type?: string;
  output?: string;
}

/** An item of the Responses API: a message, a call, a result, or what the model thought. */
function itemOf(item: Item, message: number): Carrier {
  if (item.type === undefined) return carrierOf(item, message);
  if (item.type === "function_call_output") return { message, role: "tool", text: item.output ?? "", more: "" };
  return { message, role: "assistant", text: "", more: JSON.stringify(item) };
}

interface Block {
  type?: string;
  text?: string;
  content?: unknown;
}
interface Sent {
  role: string;
  content?: unknown;
  tool_calls?: unknown;
}

function carrierOf(sent: Sent, message: number | undefined): Carrier {
  const blocks = (Array.isArray(sent.content) ? sent.content : []) as Block[];
  const text = typeof sent.content === "string" ? sent.content : blocks.map(wordsOf).join("");
  const calls = [...blocks.filter((block) => block.type === "tool_use"), ...(sent.tool_calls ? [sent.tool_calls] : [])];
  return { message, role: sent.role, text, more: calls.map((call) => JSON.stringify(call)).join("\n") };
}

function wordsOf(block: Block): string {
  if (typeof block.text === "string") return block.text;
  if (typeof block.content === "string") return block.content;
  return Array.isArray(block.content) ? (block.content as Block[]).map(wordsOf).join("") : "";
}

/** Cuts by code points. Most texts have none that takes two units, so their places are those of the string. */
function slicer(text: string): (start: number, end: number) => string {
  if (!/[\ud800-\udbff]/.test(text)) return (start, end) => text.slice(start, end);
  const points = Array.from(text);
  return (start, end) => points.slice(start, end).join("");
}

const NOTES =
  /(\[(?:shortened here|left out|what was said|a result of [\d,]+ tokens is|and \d+ more|\d+ more lines)[^\]\n]*\])/;

/** A text in stretches; notes of what is missing alternate with what is there. */
export function stretches(piece: Piece): { text: string; isNote: boolean }[] {
  if (!piece.shortened) return [{ text: piece.text, isNote: false }];
  // What a group matches stands between what is around it.
  const all = piece.text.split(NOTES).map((text, index) => ({ text, isNote: index % 2 === 1 }));
  return all.filter((one) => one.text !== "");
}

/** What a program would send: the text itself, or the fields of the request as JSON. */
export function bytesOf(prompt: Prompt): string {
  if (typeof prompt.text === "string") return prompt.text;
  const { instructions, input, system, messages, tools } = prompt;
  const said = input ? { instructions, input } : { ...(system ? { system } : {}), messages };
  return JSON.stringify({ ...said, ...(tools?.length ? { tools } : {}) });
}
