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

/** To attach to a dialog: it stands over the page for as long as it is there. */
export function modal(dialog: HTMLDialogElement): () => void {
  const end = returnsFocus(dialog);
  dialog.showModal();
  return end;
}

/** Whether a dialog stands over the page: then keys are for it alone. */
export const isModal = (): boolean => document.querySelector("dialog[open]") !== null;
