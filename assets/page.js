/* What Gradio has nothing for: pasting and dropping pictures anywhere in the page, and a bucket
   panel that stays as a person has set it. */
(() => {
  'use strict';

  const input = () => document.querySelector('#bf-images input[type="file"]');

  const pictures = (transfer) =>
    [...(transfer?.files ?? [])].filter((file) => file.type.startsWith('image/'));

  /* Hand files to the page's own file input, as if they had been chosen there. */
  const give = (files) => {
    const target = input();
    if (!target || !files.length) return false;
    const transfer = new DataTransfer();
    files.forEach((file) => transfer.items.add(file));
    target.files = transfer.files;
    target.dispatchEvent(new Event('change', {bubbles: true}));
    return true;
  };

  document.addEventListener('paste', (event) => {
    if (give(pictures(event.clipboardData))) event.preventDefault();
  });

  const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');

  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.classList.add('bf-dragging');
  });

  document.addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) document.body.classList.remove('bf-dragging');
  });

  /* Without this a picture dropped beside the field would replace the page. */
  document.addEventListener('drop', (event) => {
    document.body.classList.remove('bf-dragging');
    if (!hasFiles(event) || event.defaultPrevented) return;
    event.preventDefault();
    give([...event.dataTransfer.files]);
  });

  /* A button that goes away takes the keyboard's place in the page with it: give it a new one. */
  document.addEventListener('click', (event) => {
    if (event.detail !== 0) return;
    if (event.target.closest('#bf-send, #bf-stop, #bf-clear, [data-example]'))
      document.querySelector('#bf-prompt textarea')?.focus();
    else if (event.target.closest('[data-remove]'))
      document.querySelector('#bf-images .upload-container')?.focus();
  });

  /* A warning that names a setting leads to it. */
  document.addEventListener('click', (event) => {
    const wanted = event.target.closest('[data-go]')?.dataset.go;
    if (!wanted) return;
    const drawer = document.querySelector('#bf-settings');
    const field = () => drawer.querySelector(`input[type="radio"][value="${wanted}"]`);
    if (!field()?.checkVisibility()) drawer.querySelector('button.label-wrap')?.click();
    const settle = (frames) => {
      if (!field()?.checkVisibility()) return frames && requestAnimationFrame(() => settle(frames - 1));
      field().scrollIntoView({block: 'center'});
      field().focus();
    };
    settle(120);
  });

  /* The picker offers pictures first; what is no picture is refused by the server, in words. */
  const label = () => {
    const target = input();
    if (target && target.accept !== 'image/*') target.accept = 'image/*';
  };

  /* The bucket panel is drawn anew with every answer: what was opened or switched in it stays so,
     with its own picture. Only what a person does counts: a redrawing closes sections too. */
  const kept = new Map();
  const keeper = (event) => event.target.closest?.('#bf-buckets [data-keep]');
  document.addEventListener('click', (event) => {
    const part = event.target.closest('summary') && keeper(event);
    if (part) kept.set(part.dataset.keep, !part.open);
  });
  document.addEventListener('change', (event) => {
    const part = keeper(event);
    if (part) kept.set(part.dataset.keep, part.checked);
  });

  const restore = () => {
    for (const part of document.querySelectorAll('#bf-buckets [data-keep]')) {
      const [name, initial] = part.matches('details') ? ['open', false] : ['checked', true];
      const value = kept.get(part.dataset.keep) ?? initial;
      if (part[name] !== value) part[name] = value;
    }
  };

  /* The picker is drawn anew with every upload; whoever was there by keyboard is still there. */
  let isAtPicker = false;
  document.addEventListener('focusin', (event) => {
    isAtPicker = event.target.matches('#bf-images .upload-container:focus-visible');
  });
  document.addEventListener('pointerdown', () => { isAtPicker = false; });
  const stay = () => {
    if (isAtPicker && document.activeElement === document.body)
      document.querySelector('#bf-images .upload-container')?.focus();
  };

  const redrawn = () => {
    label();
    restore();
    stay();
  };
  new MutationObserver(redrawn).observe(document.documentElement,
    {childList: true, subtree: true, attributeFilter: ['open', 'data-keep']});
})();
