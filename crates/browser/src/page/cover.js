// Painting over what shows secrets, for a picture. Where secrets stand is found outside: none is brought into the page.
const IN_FIELDS = new Set(['INPUT', 'TEXTAREA']);

// All that the page shows as text. `flow` has its texts in their order; one is `apart` where it begins a block. `alone`
// has what elements show by themselves: values, hints, and what styles put before and behind them.
function shownTexts() {
  const flow = [], alone = [];
  const shown = globalThis.callboardShown = {flow: [], alone: []};
  let apart = false;
  const visit = node => {
    if (node.nodeType === 3) {
      if (!node.data) return;
      flow.push({text: node.data, apart});
      shown.flow.push(node);
      apart = false;
      return;
    }
    if (!isElement(node)) return;
    // Also styles and scripts are shown where a page says so.
    if (!node.checkVisibility() && getComputedStyle(node).display !== 'contents') return;
    for (const {text, placed} of ownTexts(node)) {
      alone.push(text);
      shown.alone.push({el: node, placed});
    }
    if (node.tagName === 'SELECT' || node.tagName === 'TEXTAREA') return;
    const block = BLOCKS.has(node.tagName);
    if (block) apart = true;
    for (const child of childrenOf(node)) visit(child);
    if (block) apart = true;
  };
  if (document.documentElement) visit(document.documentElement);
  return {flow, alone};
}

// `placed` says that a text may stand elsewhere than its element.
function ownTexts(el) {
  const texts = [];
  if (IN_FIELDS.has(el.tagName)) texts.push(el.value, el.placeholder);
  if (el.tagName === 'SELECT') {
    for (const one of el.querySelectorAll('optgroup, option')) texts.push(one.label, one.text);
  }
  texts.push(el.getAttribute('alt'));
  const own = texts.filter(Boolean).map(text => ({text, placed: false}));
  for (const pseudo of ['::before', '::after', '::marker']) {
    const style = getComputedStyle(el, pseudo);
    if (!/["(]/.test(style.content) || style.display === 'none' || style.visibility !== 'visible') continue;
    const pieces = [...style.content.matchAll(/"((?:[^"\\]|\\.)*)"|attr\(\s*([^\s,)]+)/gs)];
    const written = ([, string, name]) => (name ? el.getAttribute(name) || '' : string.replace(/\\(.)/gs, '$1'));
    const text = pieces.map(written).join('');
    const {position, float, transform, fontSize} = style;
    const overflows = el.scrollWidth > el.clientWidth || el.scrollHeight > el.clientHeight + parseFloat(fontSize) / 2;
    const isMoved = pseudo === '::marker' || position !== 'static' || float !== 'none' || transform !== 'none';
    if (text) own.push({text, placed: isMoved || overflows});
  }
  return own;
}

// Documents within the page that are not read, but shown.
const isUnread = el => el.tagName === 'OBJECT' || el.tagName === 'EMBED'
  || ((el.tagName === 'IFRAME' || el.tagName === 'FRAME') && !documentOf(el));

// What is painted over: what was found in the texts, the fields in which secrets were typed, and what is not read.
function secretNodes({flow, alone, unread}) {
  const shown = globalThis.callboardShown || {flow: [], alone: []};
  const typed = [...globalThis.callboardSecretFields].filter(el => el.isConnected);
  const nodes = [...flow.map(i => shown.flow[i]), ...alone.map(i => shown.alone[i] && shown.alone[i].el), ...typed,
    ...(unread ? allElements().filter(isUnread) : [])];
  return [...new Set(nodes.filter(Boolean))];
}

// Where a node is drawn, in the coordinates of the top window.
function boxesOf(node) {
  let boxes;
  if (node.nodeType === 3) {
    const range = node.ownerDocument.createRange();
    range.selectNodeContents(node);
    boxes = range.getClientRects();
  } else {
    let el = node;
    while (el.parentElement && getComputedStyle(el).display === 'contents') el = el.parentElement;
    boxes = el.getClientRects();
  }
  return [...boxes].filter(box => box.width && box.height).map(box => outwardBox(node.ownerDocument.defaultView, box));
}

// Whether a frame is drawn as it is: no larger or smaller, and not turned.
function isDrawnPlainly(frame, box) {
  for (let el = frame; el; el = el.parentElement || el.getRootNode().host) {
    const {transform, rotate, scale} = getComputedStyle(el);
    if ([transform, rotate, scale].some(drawn => drawn !== 'none')) return false;
  }
  return Math.abs(box.width - frame.offsetWidth) < 1 && Math.abs(box.height - frame.offsetHeight) < 1;
}

// What is in a frame that is drawn otherwise than it is stands for all of the frame.
function outwardBox(view, {left: x, top: y, width, height}) {
  for (; view && view.frameElement; view = view.parent) {
    const frame = view.frameElement;
    const box = frame.getBoundingClientRect();
    if (isDrawnPlainly(frame, box)) {
      const {paddingLeft, paddingTop} = getComputedStyle(frame);
      x += box.left + frame.clientLeft + parseFloat(paddingLeft);
      y += box.top + frame.clientTop + parseFloat(paddingTop);
    } else {
      ({left: x, top: y, width, height} = box);
    }
  }
  return {x, y, width, height};
}

// Says how many things were painted over, and whether there is one of which it is not known where it is drawn.
function cover(places) {
  const shown = globalThis.callboardShown || {alone: []};
  const boxes = secretNodes(places).map(boxesOf).filter(boxes => boxes.length);
  const sheets = boxes.flat().map(sheetOver);
  theCover().replaceChildren(...sheets);
  globalThis.callboardSheets = sheets;
  return {covered: boxes.length, lost: places.alone.some(i => shown.alone[i] && shown.alone[i].placed)};
}

// What lies over the whole page. It is there for every picture, and its shadow root is closed: so the scripts of the page do
// not learn which of its texts are secrets.
function theCover() {
  if (!globalThis.callboardCover) {
    const host = document.createElementNS('http://www.w3.org/1999/xhtml', 'div');
    const style = `all: initial; position: fixed; inset: 0; width: auto; height: auto; margin: 0; border: 0; padding: 0;
      background: none; overflow: visible; pointer-events: none; z-index: 2147483647`;
    // The page's own styles do not change it.
    host.style.cssText = style.replaceAll(';', ' !important;') + ' !important';
    host.popover = 'manual';
    globalThis.callboardCover = {host, root: host.attachShadow({mode: 'closed'})};
  }
  const {host, root} = globalThis.callboardCover;
  host.style.setProperty('zoom', 1 / (document.documentElement.currentCSSZoom || 1), 'important');
  // It is shown anew, so that it also lies over a dialog that the page has opened meanwhile.
  host.remove();
  document.documentElement.append(host);
  host.showPopover();
  return root;
}

function sheetOver({x, y, width, height}) {
  const sheet = document.createElementNS('http://www.w3.org/1999/xhtml', 'div');
  sheet.style.cssText = `position: absolute; left: ${x - 2}px; top: ${y - 2}px; width: ${width + 4}px; height: ${height + 4}px;
    background: #000`;
  return sheet;
}

// How many boxes of these places no sheet lies over. Where nothing is covered, the picture is of another page.
function uncovered(places) {
  if (!globalThis.callboardCover) return {uncovered: 1};
  const sheets = (globalThis.callboardSheets || []).map(sheet => sheet.getBoundingClientRect());
  const isCovered = ({x, y, width, height}) => sheets.some(sheet => sheet.left <= x && sheet.top <= y
    && sheet.right >= x + width && sheet.bottom >= y + height);
  return {uncovered: secretNodes(places).flatMap(boxesOf).filter(box => !isCovered(box)).length};
}

function uncover() {
  if (globalThis.callboardCover) globalThis.callboardCover.host.remove();
  globalThis.callboardCover = globalThis.callboardSheets = globalThis.callboardShown = null;
  return {};
}
