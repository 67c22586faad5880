/* The conversations that this browser keeps: runs when the conversation bar is there, with Gradio's
   `element`, `trigger`, `props` and `watch`. Each is stored under a key of its own, so that tabs do
   not overwrite each other's; which one a tab shows is the tab's alone, and outlives a reload. */
'use strict';

const PREFIX = 'bifocal:conversation:';
const CURRENT = 'bifocal:current';
const UNSENT = 'bifocal:unsent';
const MOST = 30;
const ROOM = 4_000_000;
const LARGEST_FILE = 8_000_000;
/* Gradio knows the events by their names in quotes here; most come from `data-act`. */
const EVENTS = [
  'open', 'begin', 'take_in', 'write', 'forget', 'again', 'edit', 'delete', 'undelete', 'cancel',
];

const find = (selector) => element.querySelector(selector);
const menus = () => element.querySelectorAll('details.bf-menu');
const prompt = () => document.querySelector('#bf-prompt textarea');
let shown = '';
let undo = null;

/* Storage. A browser may refuse it altogether. */

const attempt = (action, otherwise = null) => {
  try {
    return action();
  } catch {
    return otherwise;
  }
};
const read = (key) => attempt(() => JSON.parse(localStorage.getItem(key)));
const keys = () => attempt(() => Object.keys(localStorage), []).filter((k) => k.startsWith(PREFIX));
const remove = (key) => attempt(() => localStorage.removeItem(key));

const entries = () =>
  keys()
    .map((key) => ({key, ...read(key)}))
    .filter((entry) => entry.record?.id)
    .sort((a, b) => b.kept - a.kept);

const named = (entry) => entry?.title || entry?.record?.title || 'Conversation';

const size = () => keys().reduce((sum, key) => sum + (localStorage.getItem(key) ?? '').length, 0);

/* Store one conversation; older ones give way where there is no room. True if it is stored. */
const store = (entry) => {
  const key = PREFIX + entry.record.id;
  const text = JSON.stringify(entry);
  const others = entries().filter((other) => other.key !== key);
  const gone = [];
  const before = attempt(() => localStorage.getItem(key));
  remove(key);
  while (others.length && (others.length >= MOST || size() + text.length > ROOM)) {
    gone.push(others.pop());
    remove(gone.at(-1).key);
  }
  let stored = false;
  while (!(stored = attempt(() => (localStorage.setItem(key, text), true), false)) && others.length) {
    gone.push(others.pop());
    remove(gone.at(-1).key);
  }
  if (!stored) {
    gone.forEach((old) => attempt(() => localStorage.setItem(old.key, JSON.stringify(old))));
    if (before) attempt(() => localStorage.setItem(key, before));
    say('The browser cannot keep this as it now is: its storage is full, or switched off. Export it '
      + 'to keep it.');
  } else if (gone.length) {
    const names = gone.map((old) => `“${named(old)}”`).join(', ');
    say(`The browser keeps ${MOST} conversations and so many pictures: ${names} had to go.`);
  }
  return stored;
};

const keep = (record, title) => {
  const old = read(PREFIX + record.id);
  store({title: title || old?.title || '', kept: Date.now(), record});
};

const forget = (id, undoable) => {
  const entry = read(PREFIX + id);
  remove(PREFIX + id);
  if (!entry || !undoable) return;
  undo = entry;
  say(`“${named(entry)}” is deleted.`, 'Undo');
};

/* What is shown. */

const say = (text, button) => {
  const place = find('[data-notice]');
  place.replaceChildren(text);
  place.hidden = !text;
  if (!button) return;
  const made = document.createElement('button');
  made.type = 'button';
  made.dataset.do = 'undo';
  made.textContent = button;
  place.append(' ', made);
};

const button = (action, id, text, label) => {
  const made = document.createElement('button');
  made.type = 'button';
  made.dataset.do = action;
  made.dataset.id = id;
  made.textContent = text;
  if (label) made.setAttribute('aria-label', label);
  return made;
};

const row = (entry) => {
  const id = entry.record.id;
  const item = document.createElement('li');
  const open = button('open', id, named(entry));
  const when = document.createElement('small');
  const turns = entry.record.turns.length;
  const day = new Date(entry.kept).toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'});
  when.textContent = `${day}, ${turns} ${turns === 1 ? 'question' : 'questions'}`;
  open.append(when);
  if (id === shown) open.setAttribute('aria-current', 'true');
  item.append(open, button('rename', id, 'Rename', `Rename ${named(entry)}`),
    button('remove', id, 'Delete', `Delete ${named(entry)}`));
  return item;
};

const draw = () => {
  /* Another tab may have stored something while a name is being typed here. */
  if (find('[data-list] input')) return;
  const all = entries();
  find('[data-count]').textContent = all.length || '';
  find('[data-none]').hidden = all.length > 0;
  find('[data-list]').replaceChildren(...all.map(row));
  const current = all.find((entry) => entry.record.id === shown);
  find('[data-title]').textContent = current ? named(current) : 'New conversation';
};

const show = (id) => {
  shown = id;
  attempt(() => (id ? sessionStorage.setItem(CURRENT, id) : sessionStorage.removeItem(CURRENT)));
};

/* What the server says. */

const save = ({name, type, text}) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

watch('value', () => {
  const told = attempt(() => JSON.parse(props.value));
  if (!told) return;
  if (told.forget || ('current' in told && told.current !== shown)) say('');
  if (told.before) keep(told.before);
  if (told.keep) keep(told.keep, told.title);
  if (told.forget) forget(told.forget, told.undo);
  if ('current' in told) show(told.current);
  if (told.file) save(told.file);
  draw();
});

/* What a person does. */

const openEntry = (entry, again = false) => {
  if (entry?.record) trigger('open', {record: entry.record, again});
};

const rename = (id, item) => {
  const key = PREFIX + id;
  const field = document.createElement('input');
  field.value = named(read(key));
  field.maxLength = 60;
  field.setAttribute('aria-label', 'New name');
  let done = false;
  const finish = (accepted) => {
    if (done) return;
    done = true;
    const entry = read(key);
    const title = field.value.trim();
    if (accepted && entry && title) attempt(() => localStorage.setItem(key, JSON.stringify({...entry, title})));
    item.replaceChildren();
    draw();
    find(`[data-do="rename"][data-id="${id}"]`)?.focus();
  };
  field.addEventListener('keydown', (event) => {
    event.stopPropagation();
    if (!['Enter', 'Escape'].includes(event.key)) return;
    /* Else Enter would press the button that has the keyboard next. */
    event.preventDefault();
    finish(event.key === 'Enter');
  });
  field.addEventListener('blur', () => finish(true));
  item.replaceChildren(field);
  field.select();
};

const close = () => menus().forEach((menu) => (menu.open = false));

const ACTIONS = {
  begin: () => trigger('begin', {}),
  markdown: () => trigger('write', {kind: 'markdown', title: read(PREFIX + shown)?.title}),
  json: () => trigger('write', {kind: 'json', title: read(PREFIX + shown)?.title}),
  open: (id) => openEntry(read(PREFIX + id)),
  rename,
  remove: (id) => {
    if (id === shown) return trigger('forget', {});
    forget(id, true);
    draw();
  },
  undo: () => {
    const entry = undo;
    undo = null;
    if (!entry || !store(entry)) return;
    say('');
    openEntry(entry);
    draw();
  },
};

element.addEventListener('click', (event) => {
  const pressed = event.target.closest('[data-do]');
  if (!pressed) return;
  const {do: action, id} = pressed.dataset;
  const menu = pressed.closest('details');
  if (!['rename', 'remove'].includes(action)) close();
  ACTIONS[action](id, pressed.closest('li'));
  if (event.detail === 0 && action !== 'rename') (menu?.querySelector('summary') ?? prompt())?.focus();
});

element.addEventListener('toggle', (event) => event.target.open && draw(), true);

document.addEventListener('click', (event) => {
  menus().forEach((menu) => {
    if (!menu.contains(event.target) && event.target.isConnected) menu.open = false;
  });
});
element.addEventListener('keydown', (event) => {
  const open = event.key === 'Escape' && find('details.bf-menu[open]');
  if (!open) return;
  open.open = false;
  open.querySelector('summary').focus();
});

element.addEventListener('change', async (event) => {
  const file = event.target.files?.[0];
  if (!file) return;
  close();
  if (file.size > LARGEST_FILE) say(`${file.name} is larger than 8 MB: no conversation is.`);
  else trigger('take_in', {text: await file.text()});
  event.target.value = '';
});

/* The buttons beneath questions and answers. */

const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  /* Browsers have it on https and on this machine alone. */
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
};

document.addEventListener('click', async (event) => {
  const pressed = event.target.closest('[data-act]');
  if (!pressed) return;
  const {act, turn, text} = pressed.dataset;
  /* The second click of a double one meets what has come in the first one's place. */
  if (event.detail > 1) return;
  if (act !== 'copy') {
    trigger(act, {index: Number(turn)});
    /* A button that goes away takes the keyboard's place in the page with it. */
    if (event.detail === 0 || act === 'edit') prompt()?.focus();
    return;
  }
  await copy(text);
  pressed.classList.add('bf-done');
  pressed.title = 'Copied';
  say('The answer is copied.');
  setTimeout(() => {
    pressed.classList.remove('bf-done');
    pressed.title = 'Copy';
    say('');
  }, 2000);
});

/* What is typed and not yet sent outlives a reload too. */

window.addEventListener('pagehide', () => {
  attempt(() => sessionStorage.setItem(UNSENT, prompt()?.value ?? ''));
});
const type = (text) => {
  const field = prompt();
  if (!field || field.value || !text) return;
  field.value = text;
  field.dispatchEvent(new Event('input', {bubbles: true}));
};

window.addEventListener('storage', draw);
draw();
requestAnimationFrame(() => type(attempt(() => sessionStorage.getItem(UNSENT))));
const last = attempt(() => sessionStorage.getItem(CURRENT));
if (last) openEntry(read(PREFIX + last) ?? {record: {id: last}}, true);
