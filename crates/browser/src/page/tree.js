// What an element is: its role, name and text, by the rules of WAI-ARIA as far as pages use them. These files run in a
// world of their own, beside the page: its scripts see none of this and cannot change what it calls.
const LONGEST = 20000;
const SKIPPED = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT', 'HEAD', 'META', 'LINK', 'BASE', 'TITLE']);
const BLOCKS = new Set(['ADDRESS', 'ARTICLE', 'ASIDE', 'BLOCKQUOTE', 'BODY', 'BR', 'CAPTION', 'DD', 'DETAILS', 'DIALOG',
  'DIV', 'DL', 'DT', 'FIELDSET', 'FIGURE', 'FOOTER', 'FORM', 'HEADER', 'HR', 'HTML', 'LEGEND', 'LI', 'MAIN', 'NAV', 'OL',
  'P', 'PRE', 'SECTION', 'TABLE', 'TBODY', 'TD', 'TH', 'THEAD', 'TR', 'UL']);
const INPUT_ROLES = {button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox',
  radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file', color: 'color',
  date: 'date', 'datetime-local': 'date', month: 'date', week: 'date', time: 'date', password: 'textbox'};
const TAG_ROLES = {BUTTON: 'button', SUMMARY: 'button', TEXTAREA: 'textbox', OPTION: 'option', H1: 'heading',
  H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading', H6: 'heading', IMG: 'img', NAV: 'navigation', MAIN: 'main',
  FORM: 'form', DIALOG: 'dialog', TABLE: 'table', TR: 'row', TH: 'columnheader', TD: 'cell', UL: 'list', OL: 'list',
  LI: 'listitem', FIELDSET: 'group', IFRAME: 'frame', FRAME: 'frame', PROGRESS: 'progressbar', METER: 'meter',
  OUTPUT: 'status', ASIDE: 'complementary', VIDEO: 'video', AUDIO: 'audio', CANVAS: 'canvas', HR: 'separator'};
// Roles whose name is their text, when nothing else names them.
const NAMED_BY_TEXT = new Set(['button', 'link', 'heading', 'option', 'tab', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'checkbox', 'radio', 'switch', 'treeitem', 'cell', 'columnheader', 'rowheader', 'gridcell', 'alert',
  'status', 'tooltip', 'row']);
const USABLE = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'listbox', 'checkbox', 'radio', 'switch',
  'slider', 'spinbutton', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'treeitem', 'file', 'date', 'color']);

const tidy = text => (text || '').slice(0, LONGEST).replace(/\s+/g, ' ').trim();
// Elements of a frame have constructors of their own, so an element is known by its properties.
const isElement = node => node.nodeType === 1;

function isEditable(el) {
  return el.tagName === 'TEXTAREA' || (el.isContentEditable && el.tagName !== 'HTML' && el.tagName !== 'BODY')
    || (el.tagName === 'INPUT' && !['button', 'checkbox', 'radio', 'submit', 'reset', 'image', 'file', 'range', 'color',
      'hidden'].includes(el.type));
}

function roleOf(el) {
  const given = el.getAttribute('role');
  if (given) return given.trim().split(/\s+/)[0].toLowerCase();
  const tag = el.tagName;
  if (tag === 'INPUT') return el.type === 'hidden' ? '' : INPUT_ROLES[el.type] || (el.list ? 'combobox' : 'textbox');
  if (tag === 'A' || tag === 'AREA') return el.hasAttribute('href') ? 'link' : '';
  if (tag === 'SELECT') return el.multiple || el.size > 1 ? 'listbox' : 'combobox';
  if (TAG_ROLES[tag]) return TAG_ROLES[tag];
  if (el.isContentEditable && !(el.parentElement && el.parentElement.isContentEditable)) return 'textbox';
  return '';
}

// The nodes below a node as they are shown: shadow roots, what is in their slots, and frames of the same origin.
function childrenOf(node) {
  if (node.shadowRoot) return node.shadowRoot.childNodes;
  if (node.tagName === 'SLOT') { const put = node.assignedNodes(); if (put.length) return put; }
  if (node.tagName === 'IFRAME' || node.tagName === 'FRAME') {
    const inside = documentOf(node);
    return inside && inside.documentElement ? [inside.documentElement] : [];
  }
  return node.childNodes || [];
}

function documentOf(frame) {
  try { return frame.contentDocument; } catch { return null; } // another origin
}

const HIDDEN = '[aria-hidden="true"]';

function isShown(el) {
  if (el.closest(HIDDEN)) return false;
  if (el.tagName === 'OPTION' || el.tagName === 'AREA') return true;
  if (!el.checkVisibility({visibilityProperty: true})) return false;
  if (el.ownerDocument === document) return true;
  const frame = el.ownerDocument.defaultView && el.ownerDocument.defaultView.frameElement;
  return !frame || isShown(frame);
}

function textOf(node) {
  if (!node.firstElementChild && !node.shadowRoot) return tidy(node.textContent);
  const parts = [];
  let length = 0;
  const visit = child => {
    if (length > LONGEST) return;
    if (child.nodeType === 3) { parts.push(child.data); length += child.data.length; return; }
    if (!isElement(child) || SKIPPED.has(child.tagName)) return;
    if (child.tagName === 'IMG') { parts.push(' ', child.alt || '', ' '); return; }
    if (child.tagName === 'SELECT' || child.tagName === 'TEXTAREA') return;
    const apart = BLOCKS.has(child.tagName);
    if (apart) parts.push(' ');
    for (const below of childrenOf(child)) visit(below);
    if (apart) parts.push(' ');
  };
  for (const child of childrenOf(node)) visit(child);
  return tidy(parts.join(''));
}

function nameOf(el, role = roleOf(el)) {
  const by = el.getAttribute('aria-labelledby');
  if (by) {
    const root = el.getRootNode();
    const text = by.split(/\s+/).map(id => root.getElementById && root.getElementById(id)).filter(Boolean).map(textOf);
    if (text.length) return tidy(text.join(' '));
  }
  const label = tidy(el.getAttribute('aria-label'));
  if (label) return label;
  if (el.labels && el.labels.length) {
    const text = tidy([...el.labels].map(textOf).join(' '));
    if (text) return text;
  }
  const tag = el.tagName;
  if (tag === 'INPUT' && ['button', 'submit', 'reset'].includes(el.type)) {
    return tidy(el.value) || {submit: 'Submit', reset: 'Reset'}[el.type] || '';
  }
  if (tag === 'IMG' || tag === 'AREA' || (tag === 'INPUT' && el.type === 'image')) {
    return tidy(el.getAttribute('alt') || el.title);
  }
  if (tag === 'FIELDSET') { const legend = el.querySelector(':scope > legend'); if (legend) return textOf(legend); }
  if (tag === 'TABLE' && el.caption) return textOf(el.caption);
  if (tag === 'IFRAME' || tag === 'FRAME') return tidy(el.title || el.name);
  if (NAMED_BY_TEXT.has(role)) { const text = textOf(el); if (text) return text; }
  return tidy(el.getAttribute('title') || el.getAttribute('placeholder'));
}

// All documents and shadow roots that can be read, the page's own first.
function rootsOf(start = document) {
  const roots = [start];
  for (let i = 0; i < roots.length; i++) {
    for (const el of roots[i].querySelectorAll('*')) {
      if (el.shadowRoot) roots.push(el.shadowRoot);
      else if (el.tagName === 'IFRAME' || el.tagName === 'FRAME') { const doc = documentOf(el); if (doc) roots.push(doc); }
    }
  }
  return roots;
}

function allElements() {
  return rootsOf().flatMap(root => [...root.querySelectorAll('*')]);
}

// Fields in which a secret was typed. The set lives as long as the document.
globalThis.callboardSecretFields ??= new Set();
const isSecretField = el => globalThis.callboardSecretFields.has(el) || (el.tagName === 'INPUT' && el.type === 'password');
