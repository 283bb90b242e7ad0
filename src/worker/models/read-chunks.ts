/**
 * The chunks of a body as they come. Through a reader: WebKit's streams cannot be iterated by themselves.
 *
 * @throws What the stream fails with.
 */
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
    // Whoever stops reading early needs no more of it; of a body that has failed nothing can be cancelled.
    reader.cancel().catch(() => {});
  }
}
