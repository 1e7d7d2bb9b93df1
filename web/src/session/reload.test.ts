import { expect, test, vi } from "vitest";

import { keepForReload } from "./reload";

test("a text that is too long to be kept takes the place of none", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    removeItem: (key: string) => kept.delete(key),
    setItem(key: string, text: string) {
      if (text.length > 5) throw new DOMException("full", "QuotaExceededError");
      kept.set(key, text);
    },
  });
  keepForReload("draft", "short");
  expect(kept.get("draft")).toBe("short");
  keepForReload("draft", "far too long");
  expect(kept.size).toBe(0);
});
