/** The names by which the page knows the types of the API. */

import type { components } from "./schema";

export type Schemas = components["schemas"];

export type Agent = Schemas["Agent"];
export type Audience = Schemas["Audience"];
export type ContextSet = Schemas["ContextSet"];
export type Message = Schemas["Message"];
export type Me = Schemas["Me"];
export type ProblemBody = Schemas["Problem"];
export type Run = Schemas["Run"];
export type Session = Schemas["Session"];
export type Thread = Schemas["Thread"];
export type Turn = Schemas["Turn"];

/** An entry of the journal. Its data are whatever its type holds. */
export type Entry = Omit<Schemas["Entry"], "data" | "audience" | "sentence"> & {
  data: Record<string, unknown>;
  /** Which agents could see it when it was decided. Workers are not told. */
  audience?: Audience | null;
  /** What it says; where sentences were asked for. */
  sentence?: string | null;
};

/** A piece of a model's answer, which is not stored. */
export interface Delta {
  run: string;
  turn: number;
  agent: string;
  text: string;
}
