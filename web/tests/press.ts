/** Clicks in lists. */

import type { Locator } from "playwright-core";
import { expect } from "vitest";

/**
 * Clicks on what stands in a list of rows once the list is at rest. While a list scrolls its rows take no clicks, and a
 * click that has to wait scrolls by itself.
 */
export async function press(target: Locator): Promise<void> {
  await rest(target);
  await target.click();
}

/** Waits until the list in which this stands does not scroll. */
export async function rest(target: Locator): Promise<void> {
  await expect.poll(() => target.evaluate((element) => getComputedStyle(element).pointerEvents)).toBe("auto");
}
