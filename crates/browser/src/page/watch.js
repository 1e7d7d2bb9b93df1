// Reports the address, the title and whether the tab is shown, each time one of them changes. Only the top window has a say.
(() => {
  if (window.top !== window) return;
  let last = '';
  const report = () => {
    const now = JSON.stringify({url: location.href, title: document.title, visible: document.visibilityState === 'visible'});
    if (now === last || !globalThis.callboardReport) return;
    last = now;
    globalThis.callboardReport(now);
  };
  const focused = () => { last = ''; report(); };
  let head = null;
  const titles = new MutationObserver(report);
  const heads = new MutationObserver(() => {
    if (document.head === head) return;
    head = document.head;
    titles.disconnect();
    if (head) titles.observe(head, {childList: true, subtree: true, characterData: true});
    report();
  });
  const begin = () => {
    if (!document.documentElement) return false;
    heads.observe(document.documentElement, {childList: true});
    if (document.head) { head = document.head; titles.observe(head, {childList: true, subtree: true, characterData: true}); }
    report();
    return true;
  };
  if (!begin()) {
    const roots = new MutationObserver(() => { if (begin()) roots.disconnect(); });
    roots.observe(document, {childList: true});
  }
  document.addEventListener('visibilitychange', report);
  addEventListener('focus', focused);
  addEventListener('pageshow', focused);
  addEventListener('load', report);
})();
