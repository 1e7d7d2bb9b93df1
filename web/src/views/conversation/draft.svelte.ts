/** Answers to forms that are not submitted yet. */

import { SvelteMap } from "svelte/reactivity";

import { Attempt } from "../../api/attempt.svelte";
import type { Problem } from "../../api/problem";
import type { ContextSet } from "../../api/types";
import { keepForReload } from "../../session/reload";
import type { LiveSession } from "../../session/session.svelte";
import { answerOf, type FormFieldOf, type Given } from "./form";

/**
 * What is filled in of one form. A row of the conversation is taken out of the page when it is out of sight, and a form
 * moves to the directive that asked for it once that is loaded, so the answers are kept apart from the row. They also
 * outlive a look at another view and a reload.
 */
export class FormDraft extends Attempt {
  private readonly given: SvelteMap<string, Given>;

  private constructor(
    private readonly session: LiveSession,
    private readonly name: string,
  ) {
    super();
    const kept = sessionStorage.getItem(this.key);
    this.given = new SvelteMap(kept === null ? [] : Object.entries(JSON.parse(kept) as Record<string, Given>));
  }

  private static readonly drafts = new WeakMap<LiveSession, Map<string, FormDraft>>();

  /** The draft of the form `name`, the same wherever the form is shown. */
  static of(session: LiveSession, name: string): FormDraft {
    const drafts = FormDraft.drafts.get(session) ?? new Map<string, FormDraft>();
    FormDraft.drafts.set(session, drafts);
    const draft = drafts.get(name) ?? new FormDraft(session, name);
    drafts.set(name, draft);
    return draft;
  }

  get(field: string): Given {
    return this.given.get(field);
  }

  set(field: string, value: Given): void {
    this.given.set(field, value);
    keepForReload(this.key, JSON.stringify(Object.fromEntries(this.given)));
  }

  /** What is wrong with the answer to one field; of the whole form without a field. */
  problemOf(field?: string): Problem | undefined {
    const [, at] = /^\/answers\/(.+)$/.exec(this.problem?.field ?? "") ?? [];
    // In a JSON pointer a slash and a tilde are written otherwise.
    return at?.replaceAll("~1", "/").replaceAll("~0", "~") === field ? this.problem : undefined;
  }

  async submit(form: NonNullable<ContextSet["form"]>): Promise<void> {
    await this.make(async () => {
      const body = { answers: answers(form.fields, this.given) };
      await this.session.api.post("/v1/sessions/{session}/forms/{name}", { path: { name: this.name }, body });
      this.given.clear();
      keepForReload(this.key, "");
    });
  }

  private get key(): string {
    return `callboard.form.${this.session.id}.${this.session.viewer ?? "user"}.${this.name}`;
  }
}

function answers(fields: FormFieldOf[], given: ReadonlyMap<string, Given>): Record<string, unknown> {
  const all = fields.map((field) => [field.key, answerOf(field, given.get(field.key))] as const);
  return Object.fromEntries(all.filter(([, answer]) => answer !== undefined));
}
