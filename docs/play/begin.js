// Runs before the rest of the page is there, so that the program is fetched and compiled meanwhile.

/** The program, a WebAssembly module, as soon as it is there. */
export const program = new Promise((resolve, reject) => {
  const worker = new Worker('fetch.js', { type: 'module' });
  const end = (settle, value) => {
    worker.terminate();
    settle(value);
  };
  worker.onmessage = ({ data }) => (data.program ? end(resolve, data.program) : end(reject, new Error(data.failed)));
  worker.onerror = (event) => end(reject, new Error(event.message || 'a part of the page could not be loaded'));
});
