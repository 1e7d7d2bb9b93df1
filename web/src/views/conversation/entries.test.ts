import { expect, test } from "vitest";

import { speakerOf } from "./entries";

test("what a program tells its agent the user says for that agent, and the agent for all others", () => {
  const told = { agent: "writer", role: "USER", thread_id: "chat:writer:2" } as const;
  expect([undefined, "writer", "lead"].map((viewer) => speakerOf(told, "agent:writer", viewer))).toEqual([
    "user",
    "user",
    "writer",
  ]);
  expect(speakerOf({ ...told, role: "SYSTEM" }, "agent:writer")).toBe("system");
  expect(speakerOf({ ...told, role: "AI" }, "agent:writer")).toBe("writer");
  expect(speakerOf({ ...told, thread_id: "main" }, "agent:writer")).toBe("writer");
  expect(speakerOf({ role: "USER", thread_id: "chat:writer" }, "user")).toBe("user");
});
