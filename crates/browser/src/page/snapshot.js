// The page as a list of items, until about `maxChars` characters of them are made. Texts come whole (as far as LONGEST),
// since secrets in them are hidden before they are shortened.
function snapshot({maxChars, within}) {
  let start = document.documentElement;
  if (within) {
    const found = find(within);
    if (!found.el) return found;
    start = found.el;
  }
  const index = selectorIndex();
  const items = [];
  const cut = {};
  let size = 0, elements = 0, buffer = '';

  const add = item => {
    const shownSize = Math.min((item.name || '').length, 200) + Math.min((item.value || '').length, 200)
      + (item.selector || '').length + 20;
    // More than needed, since hiding secrets may shorten texts; the caller counts again.
    if (size > maxChars * 1.2) { cut[item.role] = (cut[item.role] || 0) + 1; return false; }
    size += shownSize;
    items.push(item);
    return true;
  };
  const full = () => size > maxChars * 1.2;
  const flush = depth => {
    const text = tidy(buffer);
    buffer = '';
    if (text) add({depth, role: 'text', name: text});
  };

  const itemFor = (el, role, depth) => {
    if (full()) return {depth, role};
    const item = {depth, role, name: nameOf(el, role), selector: null, value: null, states: statesOf(el, role)};
    if (USABLE.has(role) || role === 'frame' || role === 'form' || role === 'dialog') item.selector = selectorFor(el, index);
    if (role === 'heading') item.level = Number(el.getAttribute('aria-level') || el.tagName[1]) || null;
    if (role === 'link') item.href = el.getAttribute('href');
    item.value = valueOf(el);
    if (el.tagName === 'SELECT') item.options = [...el.options].slice(0, 50).map(option => tidy(option.text));
    return item;
  };

  const visit = (node, depth) => {
    if (node.nodeType === 3) { if (buffer.length < LONGEST) buffer += node.data; return; }
    if (!isElement(node) || SKIPPED.has(node.tagName)) return;
    elements++;
    const hiddenBox = !node.checkVisibility() && getComputedStyle(node).display !== 'contents';
    if (hiddenBox || node.getAttribute('aria-hidden') === 'true') return;
    const role = roleOf(node);
    const block = BLOCKS.has(node.tagName);
    if (role === 'row') { flush(depth); row(node, depth); return; }
    const lone = role && (USABLE.has(role) || ['heading', 'img', 'frame', 'form', 'dialog', 'table', 'navigation', 'main',
      'alert', 'status', 'group', 'progressbar', 'option', 'tablist', 'menu', 'video', 'audio', 'canvas'].includes(role));
    if (!lone) {
      if (block) flush(depth);
      const item = role === 'listitem';
      for (const child of childrenOf(node)) visit(child, item ? depth + 1 : depth);
      if (block) flush(item ? depth + 1 : depth);
      return;
    }
    flush(depth);
    if (role === 'img' && !nameOf(node, role)) return;
    const visible = node.checkVisibility({visibilityProperty: true});
    if (visible) {
      const item = itemFor(node, role, depth);
      if (role === 'frame' && !documentOf(node)) item.states.push(`of another origin, not read: ${node.src.slice(0, 200)}`);
      add(item);
    }
    if (node.tagName === 'SELECT' || node.tagName === 'TEXTAREA' || (isEditable(node) && role === 'textbox')) return;
    below(node, role, depth + 1);
  };

  // What is named by its text has said it; only what can be used within it is listed again.
  const below = (node, role, depth) => {
    if (!NAMED_BY_TEXT.has(role)) {
      for (const child of childrenOf(node)) visit(child, depth);
      flush(depth);
      return;
    }
    for (const child of childrenOf(node)) if (isElement(child)) usableIn(child, depth);
  };
  const usableIn = (node, depth) => {
    if (SKIPPED.has(node.tagName) || !node.checkVisibility()) return;
    elements++;
    const role = roleOf(node);
    if (USABLE.has(role) || role === 'frame') { visit(node, depth); elements--; return; }
    for (const child of childrenOf(node)) if (isElement(child)) usableIn(child, depth);
  };
  const row = (node, depth) => {
    const cells = [...childrenOf(node)].filter(child => isElement(child) && !SKIPPED.has(child.tagName));
    elements += cells.length;
    if (!full()) add({depth, role: 'row', name: cells.map(cell => textOf(cell)).join(' | ')});
    else add({depth, role: 'row'});
    for (const cell of cells) for (const child of childrenOf(cell)) if (isElement(child)) usableIn(child, depth + 1);
  };

  visit(start, 0);
  flush(0);
  return {url: location.href, title: document.title, elements, items, cut};
}

function valueOf(el) {
  if (isSecretField(el)) return el.value ? '[hidden]' : null;
  if (el.tagName === 'SELECT') return [...el.selectedOptions].map(option => tidy(option.text)).join(', ');
  if (el.tagName === 'TEXTAREA' || (el.tagName === 'INPUT' && (isEditable(el) || el.type === 'range'))) return el.value || null;
  return isEditable(el) ? textOf(el) || null : null;
}

function statesOf(el, role) {
  const states = [];
  if (el.tagName === 'INPUT' && el.type === 'password') states.push('password');
  if (el.disabled || el.getAttribute('aria-disabled') === 'true') states.push('disabled');
  if (el.required || el.getAttribute('aria-required') === 'true') states.push('required');
  if (el.readOnly) states.push('read-only');
  if (el.checked || el.getAttribute('aria-checked') === 'true') states.push('checked');
  if (el.getAttribute('aria-selected') === 'true' && role !== 'option') states.push('selected');
  const open = el.getAttribute('aria-expanded');
  if (open !== null) states.push(open === 'true' ? 'expanded' : 'collapsed');
  const invalid = el.getAttribute('aria-invalid');
  if (invalid && invalid !== 'false') states.push('invalid');
  if (el.ownerDocument.activeElement === el || (el.getRootNode().activeElement === el)) {
    if (USABLE.has(role)) states.push('focused');
  }
  return states;
}
