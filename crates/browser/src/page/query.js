// Reading values out of a page: the fields that a caller asks for, each by its selector. An answer is the values, or what is wrong
// with one of them.
const MOST_MATCHES = 5000;

function query(fields) {
  try {
    const found = new Map();
    return {values: fieldsOf(fields, null, found, '')};
  } catch (fault) {
    if (fault.at === undefined) throw fault;
    return {fault};
  }
}

// `within` is the element in which is looked, if it is not the whole page. What one selector matches is looked for once.
function fieldsOf(fields, within, found, at) {
  const values = {};
  for (const field of fields) values[field.name] = fieldOf(field, within, found, `${at}/${field.name}`);
  return values;
}

function fieldOf(field, within, found, at) {
  if (field.page === 'url') return location.href;
  if (field.page === 'title') return document.title;
  let all = shownMatches(field.selector, found, at);
  if (within) all = all.filter(el => isWithin(el, within));
  if (all.length > MOST_MATCHES) throw {at, found: {count: all.length, examples: examples(all)}};
  if (field.each) return all.map(el => fieldsOf(field.each, el, found, at));
  if (field.take === 'count') return all.length;
  if (field.selector.nth !== null) all = all.at(field.selector.nth) ? [all.at(field.selector.nth)] : [];
  if (field.take === 'exists') return all.length > 0;
  if (field.all) return all.map(el => taken(field, el));
  if (all.length === 1) return taken(field, all[0]);
  if (all.length) throw {at, found: {count: all.length, examples: examples(all)}};
  if (field.optional) return null;
  throw {at, found: {count: 0, nearest: nearestTo(field.selector)}};
}

function shownMatches(selector, found, at) {
  const key = JSON.stringify(selector);
  if (!found.has(key)) {
    let all;
    try { all = matchesOf(selector); } catch (error) { throw {at, found: {bad: String(error.message || error)}}; }
    const shown = all.filter(isShown);
    found.set(key, shown.length ? shown : all);
  }
  return found.get(key);
}

function isWithin(el, outer) {
  for (let at = el; at; at = at.getRootNode().host) if (outer !== at && outer.contains(at)) return true;
  return false;
}

function taken(field, el) {
  if (field.take === 'value') {
    if (isSecretField(el)) return '[hidden]';
    return 'value' in el ? String(el.value) : textOf(el);
  }
  if (field.take === 'attribute') {
    if (field.attribute === 'value' && isSecretField(el)) return '[hidden]';
    // Addresses are whole.
    if (['href', 'src'].includes(field.attribute) && typeof el[field.attribute] === 'string') return el[field.attribute];
    return el.getAttribute(field.attribute);
  }
  return textOf(el);
}
