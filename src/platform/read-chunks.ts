/** The chunks of a body as they come. WebKit's streams have no iterator of their own. */
export async function* readChunks(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Ends the download where the caller stops early. A body that failed rejects the call.
    reader.cancel().catch(() => {});
  }
}
