// Finding elements by selector: `{kind: 'css' | 'text' | 'role', …, nth}`, as Rust parsed it.
const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa'];

function matchesOf(selector) {
  if (selector.kind === 'css') return rootsOf().flatMap(root => [...root.querySelectorAll(selector.css)]);
  if (selector.kind === 'role') {
    const ofRole = allElements().filter(el => roleOf(el) === selector.role);
    if (selector.name === null) return ofRole;
    return closest(ofRole, el => nameOf(el, selector.role), selector.name, false);
  }
  const texts = allElements().filter(el => !SKIPPED.has(el.tagName) && el.tagName !== 'HTML');
  const found = closest(texts, el => (el.tagName === 'INPUT' && !isEditable(el) ? tidy(el.value) : textOf(el)), selector.text,
    selector.exact);
  return found.filter(el => !found.some(other => other !== el && el.contains(other)));
}

// Exactly that text; where nothing has it, and the selector does not insist, a part of it in any case.
function closest(elements, textFor, wanted, exact) {
  const texts = elements.map(textFor);
  const same = elements.filter((_, i) => texts[i] === wanted);
  if (same.length || exact) return same;
  const lower = wanted.toLowerCase();
  return elements.filter((_, i) => texts[i].toLowerCase().includes(lower));
}

function find(selector) {
  let all;
  try { all = matchesOf(selector); } catch (error) { return {bad: String(error.message || error)}; }
  const shown = all.filter(isShown);
  const candidates = shown.length ? shown : all;
  if (selector.nth !== null) {
    const chosen = candidates.at(selector.nth);
    return chosen ? {el: chosen} : {count: candidates.length, examples: examples(candidates)};
  }
  if (candidates.length === 1) return {el: candidates[0]};
  if (candidates.length) return {count: candidates.length, examples: examples(candidates)};
  return {count: 0, nearest: nearestTo(selector)};
}

function examples(elements) {
  const index = selectorIndex();
  return elements.slice(0, 5).map(el => describe(el, index));
}

function describe(el, index) {
  const role = roleOf(el) || el.tagName.toLowerCase();
  const name = nameOf(el, role) || textOf(el);
  return `${role} "${name.slice(0, 60)}" ${selectorFor(el, index)}`;
}

// What a caller most likely meant: usable elements that share the most pairs of letters with the selector.
function nearestTo(selector) {
  const wanted = piecesOf(selector.css || selector.text || `${selector.role} ${selector.name || ''}`);
  const index = selectorIndex();
  const scored = [];
  for (const el of index.all) {
    const role = roleOf(el);
    if (!USABLE.has(role) && !(el.id && selector.kind === 'css') && role !== 'heading') continue;
    const own = piecesOf([role, nameOf(el, role).slice(0, 80), el.id, el.getAttribute('name'), el.className,
      ...TEST_IDS.map(id => el.getAttribute(id))].filter(x => typeof x === 'string').join(' '));
    let shared = 0;
    for (const piece of wanted) if (own.has(piece)) shared++;
    if (shared) scored.push([shared / Math.sqrt(own.size || 1), el]);
  }
  scored.sort((a, b) => b[0] - a[0]);
  return scored.slice(0, 3).map(([, el]) => describe(el, index));
}

// The pairs of letters of each word; its first letter also counts by itself, as one after a space.
function piecesOf(text) {
  const pieces = new Set();
  for (const word of text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean)) {
    const spaced = ` ${word}`;
    for (let i = 0; i < spaced.length - 1; i++) pieces.add(spaced.slice(i, i + 2));
  }
  return pieces;
}

// Which elements share each selector, so that one that is not alone gets its number. Only shown elements count, as in `find`.
function selectorIndex() {
  const all = allElements().filter(isShown);
  return {all, lists: new Map()};
}

function sharing(index, key, test) {
  let list = index.lists.get(key);
  if (!list) { list = index.all.filter(test); index.lists.set(key, list); }
  return list;
}

// By their names, the shown elements of one role.
function byRole(index, role, name) {
  let names = index.lists.get(`role ${role}`);
  if (!names) {
    names = new Map();
    for (const el of index.all) {
      if (roleOf(el) !== role) continue;
      const its = nameOf(el, role);
      if (!names.has(its)) names.set(its, []);
      names.get(its).push(el);
    }
    index.lists.set(`role ${role}`, names);
  }
  return names.get(name) || [];
}

function byAttribute(index, attribute, value) {
  let values = index.lists.get(attribute);
  if (!values) {
    values = new Map();
    for (const el of index.all) {
      const its = el.getAttribute(attribute);
      if (its === null) continue;
      if (!values.has(its)) values.set(its, []);
      values.get(its).push(el);
    }
    index.lists.set(attribute, values);
  }
  return values.get(value) || [];
}

const looksGenerated = id => /\d{4,}|^[:_]|[0-9a-f]{8,}/i.test(id);
const quoted = text => `"${text.replace(/["\\]/g, '\\$&')}"`;

// The most lasting selector that finds this element alone; without one, the best with its number.
function selectorFor(el, index) {
  let best = null;
  const isAlone = (text, list) => {
    if (list.length === 1 && list[0] === el) return true;
    if (!best && list.includes(el)) best = `${text} >> nth=${list.indexOf(el)}`;
    return false;
  };
  const id = el.id && `#${CSS.escape(el.id)}`;
  if (id && !looksGenerated(el.id) && isAlone(id, byAttribute(index, 'id', el.id))) return id;
  for (const attribute of TEST_IDS) {
    const value = el.getAttribute(attribute);
    const text = `[${attribute}=${quoted(value || '')}]`;
    if (value && isAlone(text, byAttribute(index, attribute, value))) return text;
  }
  const tag = CSS.escape(el.tagName.toLowerCase());
  const name = el.getAttribute('name');
  if (name) {
    const text = `${tag}[name=${quoted(name)}]`;
    if (isAlone(text, byAttribute(index, 'name', name).filter(other => other.tagName === el.tagName))) return text;
  }
  const role = roleOf(el);
  const label = role && nameOf(el, role);
  if (label && label.length <= 80) {
    const text = `role=${role}[name=${quoted(label)}]`;
    if (isAlone(text, byRole(index, role, label))) return text;
  }
  if (id && isAlone(id, byAttribute(index, 'id', el.id))) return id;
  if (!best && isAlone(tag, sharing(index, `tag ${tag}`, other => other.tagName === el.tagName))) return tag;
  return best || `${tag} >> nth=0`;
}
