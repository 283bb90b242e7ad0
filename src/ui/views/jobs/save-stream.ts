import { saveFile } from '../../browser/save-file.ts';

declare global {
  interface Window {
    /** Chromium’s. The other browsers have none. */
    showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
  }
}

/** Writes a stream to a file that the user picks, else hands it to the browser’s downloads. Resolves without a file if the user picks none. */
export async function saveStream(
  name: string,
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<void> {
  if (!window.showSaveFilePicker) {
    // A large blob is kept on disk.
    saveFile(name, await new Response(stream).blob());
    return;
  }
  try {
    const file = await window.showSaveFilePicker({ suggestedName: name });
    await stream.pipeTo(await file.createWritable());
  } catch (caught) {
    if (!(caught instanceof DOMException && caught.name === 'AbortError')) throw caught;
    if (!stream.locked) await stream.cancel();
  }
}
