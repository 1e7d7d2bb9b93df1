import { expect, test } from "vitest";

import { categoryOf, nameOf } from "./files";

test("the folder of a file is its category", () => {
  expect(categoryOf(".tmp/sessions/s/features/pool-context.md")).toBe("features");
  expect(categoryOf("src/pool.rs")).toBe("general");
  expect(categoryOf("code/deep/pool.rs")).toBe("general");
  expect(nameOf(".tmp/sessions/s/tasks/pool-tasks.md")).toBe("pool-tasks.md");
});
