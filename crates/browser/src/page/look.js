// A page in short: what one asks first.
function look() {
  const index = selectorIndex();
  const of = role => index.all.filter(el => roleOf(el) === role);
  const usable = el => ({role: roleOf(el), name: nameOf(el), selector: selectorFor(el, index), states: statesOf(el, roleOf(el)),
    value: valueOf(el)});
  const isField = el => ['textbox', 'searchbox', 'combobox', 'listbox', 'checkbox', 'radio', 'spinbutton', 'date', 'file',
    'switch'].includes(roleOf(el));
  const fields = index.all.filter(isField);
  const buttons = of('button');
  const forms = index.all.filter(el => el.tagName === 'FORM');
  const grouped = forms.map(form => ({name: nameOf(form), selector: selectorFor(form, index),
    fields: fields.filter(el => el.form === form || form.contains(el)).slice(0, 40).map(usable),
    buttons: buttons.filter(el => el.form === form || form.contains(el)).slice(0, 10).map(usable)}));
  const loose = fields.filter(el => !forms.some(form => el.form === form || form.contains(el)));
  if (loose.length) grouped.push({name: '', selector: '', fields: loose.slice(0, 40).map(usable), buttons: []});
  return {
    url: location.href, title: document.title, elements: index.all.length,
    headings: of('heading').slice(0, 20).map(el => nameOf(el)),
    forms: grouped.slice(0, 10),
    buttons: buttons.filter(el => !forms.some(form => el.form === form || form.contains(el))).slice(0, 20).map(usable),
    links: of('link').length,
    dialogs: index.all.filter(el => ['dialog', 'alertdialog'].includes(roleOf(el))).slice(0, 5)
      .map(el => nameOf(el) || textOf(el)),
    alerts: index.all.filter(el => roleOf(el) === 'alert').slice(0, 5).map(textOf).filter(Boolean),
    looksLike: looksLike(fields),
  };
}

function looksLike(fields) {
  const about = el => [nameOf(el), el.id, el.getAttribute('name'), el.getAttribute('autocomplete'),
    el.getAttribute('placeholder')].join(' ').toLowerCase();
  const code = /one-time-code|\botp\b|2fa|two.?factor|verification|security code|auth\w* code|passcode|\bmfa\b|\btotp\b/;
  if (fields.some(el => isEditable(el) && el.type !== 'password' && code.test(about(el)))) return 'second_factor';
  if (fields.some(el => el.tagName === 'INPUT' && el.type === 'password')) return 'login';
  const page = `${document.title} ${[...document.querySelectorAll('h1, h2')].map(textOf).join(' ')} ${location.pathname}`;
  const asks = fields.some(el => /\busername\b|\bemail\b|identifier|\blogin\b/.test(about(el)));
  return asks && /sign.?in|log.?in|anmelden/i.test(page) ? 'login' : null;
}
