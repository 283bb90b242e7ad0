// A service worker can't run the model: it ends when it is idle, and has no document. The offscreen document stays.
let opening;

async function openOffscreenDocument() {
  if (await chrome.offscreen.hasDocument()) return;
  await chrome.offscreen.createDocument({
    url: 'offscreen.html',
    reasons: ['WORKERS'],
    justification: 'Runs a language model in a worker',
  });
}

chrome.runtime.onMessage.addListener((message, sender, respond) => {
  opening ??= openOffscreenDocument();
  opening.then(() => respond(), respond);
  opening.finally(() => (opening = undefined));
  return true;
});
