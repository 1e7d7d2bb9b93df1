/** Answers to the fields of a form, between what a page's field holds and what the API takes. */

import type { Schemas } from "../../api/types";

export type FormFieldOf = Schemas["Field"];
/** What a field of the page holds: a text, or for yes and no whether it is ticked. */
export type Given = string | boolean | undefined;

/** The answer to send; `undefined` where there is none. What does not fit is sent as it is: the server says why it does not. */
export function answerOf(field: FormFieldOf, given: Given): unknown {
  if (field.valueType === "BOOLEAN") return given === undefined && !field.required ? undefined : given === true;
  if (given === undefined || given === "") return undefined;
  if (field.valueType === "NUMBER") return Number.isNaN(Number(given)) ? given : Number(given);
  if (field.valueType !== "ARRAY") return given;
  return String(given)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** An answer as people read it. */
export function shownAnswer(answer: unknown): string {
  if (answer === undefined || answer === null) return "no answer";
  if (typeof answer === "boolean") return answer ? "yes" : "no";
  return Array.isArray(answer) ? answer.join(", ") : String(answer);
}
