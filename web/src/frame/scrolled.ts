/** Keeps where the panes of a view are scrolled to while one looks at another view. Windowed lists keep their places themselves. */

import type { Attachment } from "svelte/attachments";

import { isBack, route } from "../route.svelte";

const PANES = ".pane, .inspector";
/** What the reader does moves a pane, and nothing else does from then on. */
const GESTURES = ["wheel", "touchmove", "pointerdown", "keydown"];

/** To attach to what holds the views. What it keeps goes with the frame, so nothing is left for other eyes. */
export function keepsScrolled(): Attachment<HTMLElement> {
  const tops = new Map<string, number>();
  return (box) => {
    /** Panes that are not high enough yet to be scrolled to where they were, since what is in them still comes. */
    const waiting = new Map<Element, number>();
    const nameOf = (pane: Element) =>
      `${route.view} ${pane.getAttribute("aria-label") ?? [...box.querySelectorAll(PANES)].indexOf(pane)}`;

    function put() {
      for (const [pane, top] of waiting) {
        pane.scrollTop = top;
        if (!pane.isConnected || pane.scrollTop >= top - 1) waiting.delete(pane);
      }
    }
    const watch = new MutationObserver((changes) => {
      for (const added of changes.flatMap((change) => [...change.addedNodes])) {
        if (!(added instanceof Element) || !isBack()) continue;
        for (const pane of [...(added.matches(PANES) ? [added] : []), ...added.querySelectorAll(PANES)]) {
          const top = tops.get(nameOf(pane));
          if (top) waiting.set(pane, top);
        }
      }
      put();
    });
    watch.observe(box, { childList: true, subtree: true });

    const scrolled = ({ target }: Event) => {
      if (target instanceof Element && target.matches(PANES) && !waiting.has(target))
        tops.set(nameOf(target), target.scrollTop);
    };
    const moved = () => waiting.clear();
    box.addEventListener("scroll", scrolled, { capture: true, passive: true });
    for (const gesture of GESTURES) box.addEventListener(gesture, moved, { capture: true, passive: true });
    return () => {
      watch.disconnect();
      box.removeEventListener("scroll", scrolled, { capture: true });
      for (const gesture of GESTURES) box.removeEventListener(gesture, moved, { capture: true });
    };
  };
}
