// Making elements ready for real input: where they are, whether they can be used, and what has the focus.
const plain = ({el, ...rest}) => rest;
const control = el => (el.tagName === 'LABEL' && el.control) || el;

// The middle of an element that can be pressed, in the coordinates of the top window.
function aim(selector) {
  const found = find(selector);
  if (!found.el) return plain(found);
  const el = found.el;
  el.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
  if (!isShown(el)) return {unusable: 'it is not visible'};
  if (el.disabled || el.getAttribute('aria-disabled') === 'true') return {unusable: 'it is disabled'};
  const boxes = [...el.getClientRects()].filter(box => box.width && box.height);
  if (!boxes.length) return {unusable: 'it has no size'};
  let blocker = null;
  for (const box of boxes) {
    const point = {x: box.left + box.width / 2, y: box.top + box.height / 2};
    blocker = covering(el, point);
    if (!blocker) return outward(el, point);
  }
  return {unusable: `it is covered by ${describe(blocker, selectorIndex())}`};
}

// What lies over an element at a point of its window, if that would take the click instead.
function covering(el, {x, y}) {
  let hit = el.ownerDocument.elementFromPoint(x, y);
  while (hit && hit.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  if (!hit || within(hit, el) || within(el, hit) || hit.control === el || el.control === hit) return null;
  const label = hit.closest('label');
  return label && label.control === el ? null : hit;
}

function within(inner, outer) {
  for (let node = inner; node; node = node.parentNode || node.host) if (node === outer) return true;
  return false;
}

function outward(el, {x, y}) {
  for (let view = el.ownerDocument.defaultView; view && view.frameElement; view = view.parent) {
    const frame = view.frameElement;
    const box = frame.getBoundingClientRect();
    x += box.left + frame.clientLeft;
    y += box.top + frame.clientTop;
  }
  return {x, y};
}

// Gives a field the focus, with the caret at its end or all of it marked.
function focusField({selector, replace, secret}) {
  const found = find(selector);
  if (!found.el) return plain(found);
  const el = control(found.el);
  if (!isEditable(el)) return {unusable: `it is no field for text, but ${describe(el, selectorIndex())}`};
  if (el.disabled || el.readOnly) return {unusable: el.disabled ? 'it is disabled' : 'it is read-only'};
  el.scrollIntoView({block: 'center', behavior: 'instant'});
  el.focus();
  if (!hasFocus(el)) return {unusable: 'it does not take the focus'};
  if (replace && el.select) el.select();
  else if (replace) getSelection().selectAllChildren(el);
  else if (el.setSelectionRange) try { el.setSelectionRange(el.value.length, el.value.length); } catch { /* number, email */ }
  if (secret) globalThis.callboardSecretFields.add(el);
  return {origin: top.location.origin};
}

const hasFocus = el => el.getRootNode().activeElement === el;

function focusAny(selector) {
  const found = find(selector);
  if (!found.el) return plain(found);
  const el = control(found.el);
  el.scrollIntoView({block: 'center', behavior: 'instant'});
  el.focus();
  return hasFocus(el) ? {} : {unusable: 'it does not take the focus'};
}

// A list opens as a window of the system, out of reach of input events, so its choice is set as other tools set it.
function choose({selector, options}) {
  const found = find(selector);
  if (!found.el) return plain(found);
  const el = control(found.el);
  if (el.tagName !== 'SELECT') return {unusable: `it is no list to select from, but ${describe(el, selectorIndex())}`};
  if (el.disabled) return {unusable: 'it is disabled'};
  const all = [...el.options];
  const chosen = [];
  for (const wanted of options) {
    const option = all.find(o => o.value === wanted) || all.find(o => tidy(o.text) === tidy(wanted))
      || all.find(o => tidy(o.text).toLowerCase() === tidy(wanted).toLowerCase());
    if (!option) return {missing: wanted, options: all.slice(0, 30).map(o => tidy(o.text))};
    if (option.disabled) return {unusable: `its option "${tidy(option.text)}" is disabled`};
    chosen.push(option);
  }
  el.focus();
  for (const option of all) option.selected = chosen.includes(option);
  el.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  el.dispatchEvent(new Event('change', {bubbles: true}));
  return {};
}

function scrollTo(selector) {
  const found = find(selector);
  if (!found.el) return plain(found);
  found.el.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
  return {};
}

const isThere = selector => {
  const found = find(selector);
  if (found.bad) return found;
  return {there: found.el ? isShown(found.el) : found.count > 0};
};

const place = () => ({url: location.href, title: document.title});
const middle = () => ({x: innerWidth / 2, y: innerHeight / 2});
