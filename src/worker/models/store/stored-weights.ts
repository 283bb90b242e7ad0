import { sectionsOf, type PackedLayout } from '../checkpoint/packed-weights.ts';
import { lazyBytes } from '../checkpoint/packed-source.ts';
import type { SyncFile } from './opfs.ts';
import { createStoredHasher } from './stored-digest.ts';

/**
 * The packed file for onnxruntime-web: each section is read once, compared with its digest, and handed on. Memory for the largest
 * section is enough.
 *
 * @param digests One for each of `sectionsOf`.
 * @param onRead Called with the number of bytes that were read.
 * @param onDamage Called before the read of a damaged section throws: onnxruntime-web drops that error for one of its own.
 */
export async function checkedWeights(
  file: Pick<SyncFile, 'read'>,
  layout: PackedLayout,
  digests: readonly string[],
  { onRead, onDamage }: { readonly onRead: (numBytes: number) => void; readonly onDamage: () => void },
): Promise<Uint8Array> {
  const hasher = await createStoredHasher();
  const sections = sectionsOf(layout);
  const buffer = new Uint8Array(Math.max(0, ...sections.map(({ length }) => length)));
  let held = -1;
  return lazyBytes(layout.size, (begin, end) => {
    const index = sections.findIndex(({ offset, length }) => begin >= offset && end <= offset + length);
    const { offset = 0, length = 0 } = sections[index] ?? {};
    const bytes = buffer.subarray(0, length);
    if (index !== held) {
      held = -1;
      const numRead = file.read(bytes, { at: offset });
      if (hasher.init().update(bytes.subarray(0, numRead)).digest() !== digests[index]) {
        onDamage();
        throw new Error(`The stored bytes from ${offset} on are damaged`);
      }
      held = index;
      onRead(length);
    }
    return bytes.subarray(begin - offset, end - offset);
  });
}
