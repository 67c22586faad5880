/* For screen readers. Gradio draws an answer anew with every piece, so that its own live region
   would begin it again and again: here every sentence is said once, when it is complete. */
(() => {
  'use strict';

  const SENTENCES = /[\s\S]*(?:[.!?:;…。](?=\s)|\n)/;
  const BLOCKS = new Set(['P', 'LI', 'TR', 'PRE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'DIV']);
  const DRAWN_WITHIN_MS = 400;
  const UNREAD = '[aria-hidden="true"], button, annotation, svg';

  let region, ending, before = '', length = 0, begun = false, counted = 0;

  const begin = () => {
    region = document.createElement('div');
    region.id = 'bf-aloud';
    region.className = 'bf-unseen';
    for (const [name, value] of [['role', 'log'], ['aria-live', 'polite'], ['aria-label', 'Read aloud']])
      region.setAttribute(name, value);
    (document.querySelector('.gradio-container main') ?? document.body).append(region);
  };

  const say = (text) => {
    if (!text.trim()) return;
    if (!region?.isConnected) begin();
    const line = document.createElement('p');
    line.textContent = text.trim();
    region.append(line);
    while (region.childElementCount > 50) region.firstElementChild.remove();
  };

  document.addEventListener('bf-say', (event) => say(event.detail));

  /* What is read of an element: no icons, and of a formula not its picture. */
  const words = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(UNREAD)) return '';
    const text = [...node.childNodes].map(words).join('');
    return BLOCKS.has(node.tagName) ? `${text}\n` : node.matches('td, th') ? `${text} ` : text;
  };

  /* A short answer may begin and end between two looks: the page counts those that ended. */
  const count = () =>
    Number(document.querySelector('#bf-timeline [data-answered]')?.dataset.answered ?? counted);

  /* The last answer while it is under way, and its rest when it has been drawn to its end; one that
     is only opened is not read. */
  const read = (isOver = false) => {
    const answer = [...document.querySelectorAll('#bf-chat .bot.message')].at(-1);
    const prose = answer?.querySelector('.prose, .md');
    const text = prose ? words(prose).trimEnd() : '';
    const busy = document.querySelector('#bf-stop')?.checkVisibility() ?? false;
    begun ||= !busy && count() > counted;
    if (!busy && begun && !isOver) {
      ending ??= setTimeout(read, DRAWN_WITHIN_MS, true);
      return;
    }
    ending = undefined;
    begun ||= busy && text !== before && text !== '…';
    if (begun && text !== '…') {
      const more = text.slice(length);
      const ready = busy ? more.match(SENTENCES)?.[0] ?? '' : more;
      say(ready);
      length += ready.length;
    }
    if (!busy) [before, length, begun, counted] = [text, 0, false, count()];
  };

  /* The transcript is not read, but can be scrolled by keyboard. */
  const mend = () => {
    const log = document.querySelector('#bf-chat [role="log"]');
    if (!log) return;
    if (log.getAttribute('aria-live') !== 'off') log.setAttribute('aria-live', 'off');
    if (log.tabIndex !== 0) log.tabIndex = 0;
  };

  let waiting = false;
  new MutationObserver(() => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      mend();
      read();
    }, 120);
  }).observe(document.documentElement, {childList: true, subtree: true, characterData: true});
})();
