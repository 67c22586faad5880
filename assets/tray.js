/* Moving and removing the pictures about to be sent, by button or by dragging. */
const KIND = 'application/x-bifocal-place';
let moved = null;

const move = (from, to, way) => {
  moved = {to, way, count: element.querySelectorAll('li').length};
  trigger('move', {from, to});
};

element.addEventListener('click', (event) => {
  /* The second click of a double one meets the next picture, which has moved up meanwhile. */
  if (event.detail > 1) return;
  const {remove, from, to, way} = event.target.closest('button')?.dataset ?? {};
  if (remove) trigger('remove', {index: Number(remove)});
  if (from) move(Number(from), Number(to), way);
});

element.addEventListener('dragstart', (event) => {
  const place = event.target.closest('li')?.dataset.place;
  if (!place) return;
  event.dataTransfer.setData(KIND, place);
  event.dataTransfer.effectAllowed = 'move';
});

element.addEventListener('dragover', (event) => {
  if (event.dataTransfer.types.includes(KIND)) event.preventDefault();
});

element.addEventListener('drop', (event) => {
  const to = event.target.closest('li')?.dataset.place;
  const from = event.dataTransfer.getData(KIND);
  if (!from || !to || from === to) return;
  event.preventDefault();
  move(Number(from), Number(to), Number(from) < Number(to) ? 'later' : 'earlier');
});

/* The list is drawn anew: the keyboard stays with the picture that was moved. */
watch('value', () => {
  if (!moved) return;
  const row = element.querySelector(`li[data-place="${moved.to}"]`);
  const usable = (name) => row?.querySelector(`button${name}:not(:disabled)`);
  (usable(`[data-way="${moved.way}"]`) ?? usable('[data-way]'))?.focus();
  const detail = `Moved to place ${moved.to + 1} of ${moved.count}`;
  document.dispatchEvent(new CustomEvent('bf-say', {detail}));
  moved = null;
});
