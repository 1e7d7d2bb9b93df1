import { expect, test } from "vitest";
import type { Delta, Entry } from "../../api/types";
import type { LiveSession } from "../../session/session.svelte";
import { Answering } from "./answering.svelte";

/** What answers, and what tells it of pieces and of entries. */
function answering() {
  let piece: (delta: Delta) => void = () => {};
  let entry: (entry: Entry) => void = () => {};
  const session = {
    onDelta: (hear: typeof piece) => ((piece = hear), () => {}),
    onEntry: (hear: typeof entry) => ((entry = hear), () => {}),
  };
  const shown = new Answering(session as unknown as LiveSession);
  shown.start();
  const of = (turn: number) => ({ run: "r1", turn, agent: "critic" });
  return {
    shown: () => shown.answers.map((one) => one.key),
    says: (turn: number) => piece({ ...of(turn), text: "I look" } as Delta),
    records: (type: string, turn: number) => entry({ type, data: of(turn) } as unknown as Entry),
  };
}

test("a piece of an answer that comes behind its end begins no other one", () => {
  const { shown, says, records } = answering();
  records("turn.requested", 5);
  says(5);
  records("turn.answered", 5);
  says(5);
  records("turn.requested", 7);
  records("turn.failed", 7);
  expect(shown()).toEqual([]);
});
