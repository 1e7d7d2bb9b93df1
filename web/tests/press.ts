/** Clicks in lists. */

import type { Locator } from "playwright-core";
import { expect } from "vitest";

/** How long a click may take, and then to show what it does, before it is taken for lost, in milliseconds. */
const SHOWN_WITHIN = 10_000;

/**
 * Clicks on what stands in a list of rows until `shown` is there. While a list scrolls its rows take no clicks, and a
 * click that has to wait scrolls by itself; so it waits until the list is at rest. Where a row still moves between the
 * button's going down and up, since what stands above it was measured or loaded, there is no click; so it tries again,
 * unless what the click did has only come late.
 */
export async function press(target: Locator, shown: Locator): Promise<void> {
  let hasClicked = false;
  await expect
    .poll(async () => {
      if (hasClicked && (await shown.isVisible())) return true;
      hasClicked = true;
      await rest(target);
      await target.click({ timeout: SHOWN_WITHIN });
      return shown.waitFor({ timeout: SHOWN_WITHIN }).then(
        () => true,
        () => false,
      );
    })
    .toBe(true);
}

/** Waits until the list in which this stands does not scroll. */
export async function rest(target: Locator): Promise<void> {
  await expect.poll(() => target.evaluate((element) => getComputedStyle(element).pointerEvents)).toBe("auto");
}
