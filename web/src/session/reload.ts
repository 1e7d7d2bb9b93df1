/** What outlives a reload of the page, in this tab alone. */

/** Keeps a text, or drops it where it is empty. One that is too long for the browser's store is on the page alone. */
export function keepForReload(key: string, text: string): void {
  sessionStorage.removeItem(key);
  if (text === "") return;
  try {
    sessionStorage.setItem(key, text);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}
