/** Where the focus is while something stands over or beside the page, and after it. */

/** To attach to what may take the focus while it is there: the focus is not lost with it, but goes back to where it was. */
export function returnsFocus(box: HTMLElement): () => void {
  const before = document.activeElement;
  return () => {
    const now = document.activeElement;
    const isLost = now === null || now === document.body || box.contains(now);
    if (isLost && before instanceof HTMLElement) before.focus();
  };
}

/**
 * To attach to a dialog: it stands over the page for as long as it is there.
 *
 * Escape is told as `close` at once. The browser itself does so in a task of its own, and a key that comes before it would
 * still find the dialog open.
 */
export function modal(dialog: HTMLDialogElement): () => void {
  const end = returnsFocus(dialog);
  dialog.addEventListener("cancel", (event) => {
    if (event.target !== dialog || !event.cancelable) return;
    event.preventDefault();
    dialog.dispatchEvent(new Event("close"));
  });
  dialog.showModal();
  return end;
}

/** Whether a dialog stands over the page: then keys are for it alone. */
export const isModal = (): boolean => document.querySelector("dialog[open]") !== null;
