/* Gradio's camera says nothing where it may not be used, or where there is none. */
(() => {
  'use strict';

  const WHY = {
    NotAllowedError: 'The browser does not let this page use the camera. Allow it beside the address, then open the camera again.',
    NotFoundError: 'No camera was found. Connect one, or add a picture as a file.',
    NotReadableError: 'The camera cannot be read: another program may be using it.',
  };

  /* Browsers give pages a camera over https and on this machine alone. */
  if (!navigator.mediaDevices?.getUserMedia) document.documentElement.classList.add('bf-no-camera');

  window.addEventListener('unhandledrejection', (event) => {
    const why = event.reason instanceof DOMException && WHY[event.reason.name];
    const camera = document.querySelector('#bf-photo');
    if (!why || !camera) return;
    event.preventDefault();
    camera.querySelector('.bf-problem')?.remove();
    const said = document.createElement('p');
    said.className = 'bf-problem';
    said.setAttribute('role', 'alert');
    said.textContent = why;
    camera.prepend(said);
  });
})();
