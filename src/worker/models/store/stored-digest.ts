import type { IHasher } from 'hash-wasm';
import { importPart } from '../../base/import-part.ts';
import type { PackedSection } from '../checkpoint/packed-weights.ts';

/** Values, scales and zero points of one tensor are written in turns. */
const MOST_OPEN_SECTIONS = 4;

/**
 * xxHash64, which is faster than a disk. It detects damage by a disk or a crash, not deliberate changes to this site's storage.
 * Loaded on demand: only browsers with a stored model need it.
 */
export async function createStoredHasher(): Promise<IHasher> {
  const { createXXHash64 } = await importPart(() => import('./xx-hash.ts'));
  return createXXHash64();
}

/** The digests of a packed file's sections, taken while they are written. */
export interface SectionDigests {
  /** Takes a part of a section. The parts of each section come in its order; sections come in any. */
  add(bytes: Uint8Array, at: number): void;
  /** In hexadecimal, in the order of the sections. @throws Error if a section is incomplete. */
  finish(): readonly string[];
}

export async function createSectionDigests(sections: readonly PackedSection[]): Promise<SectionDigests> {
  const idle = await Promise.all(Array.from({ length: MOST_OPEN_SECTIONS }, createStoredHasher));
  const indexAt = new Map(sections.map(({ offset }, index) => [offset, index]));
  /** By the offset at which each begun section goes on. */
  const begun = new Map<number, { readonly index: number; readonly hasher: IHasher }>();
  const digests: string[] = [];
  const begin = (at: number): { index: number; hasher: IHasher } => {
    const [index, hasher] = [indexAt.get(at), idle.pop()];
    if (index === undefined || !hasher) throw new Error(`Expected a section to begin or go on at ${at}`);
    return { index, hasher: hasher.init() };
  };
  return {
    add(bytes, at) {
      const section = begun.get(at) ?? begin(at);
      const { offset = 0, length = 0 } = sections[section.index] ?? {};
      const end = at + bytes.byteLength;
      section.hasher.update(bytes);
      begun.delete(at);
      if (end < offset + length) {
        begun.set(end, section);
        return;
      }
      digests[section.index] = section.hasher.digest();
      idle.push(section.hasher);
    },
    finish() {
      const numDone = Object.keys(digests).length;
      if (numDone < sections.length) throw new Error(`Only ${numDone} of ${sections.length} sections came`);
      return digests;
    },
  };
}
