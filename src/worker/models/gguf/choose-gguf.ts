import { ggufUnclear } from '../model-errors.ts';
import { modelFileMissing } from '../../../protocol/errors/model-messages.ts';

/** A file that holds one part of a split model. */
const PART = /-(\d{5})-of-(\d{5})\.gguf$/;

/** Taken where nobody says which, as llama.cpp and Ollama do; then the most exact one that is common. */
const USUAL = ['Q4_K_M', 'Q8_0'];

/**
 * Chooses among the GGUF files of a repository or a folder.
 *
 * @param names Names of all its files.
 * @param wanted A file's name, or a type such as `Q4_K_M`; undefined for the usual one.
 * @returns The file, or the first part of a split one; undefined where there is none and none is asked for.
 * @throws GgufChoiceError where none matches, or several do.
 */
export function chooseGguf(names: readonly string[], wanted: string | undefined): string | undefined {
  const models = modelsAmong(names);
  if (wanted !== undefined) return only(models, ofType(models, wanted), wanted);
  if (models.length <= 1) return models[0];
  const usual = USUAL.map((type) => ofType(models, type)).find(({ length }) => length > 0);
  return only(models, usual ?? models, '');
}

/** The GGUF files that hold a model each, or the first part of one. */
export function modelsAmong(names: readonly string[]): readonly string[] {
  // A file `mmproj` holds the part of a model that sees pictures.
  return names.filter(
    (name) =>
      name.endsWith('.gguf') && !name.startsWith('mmproj') && (PART.exec(name)?.[1] ?? '00001') === '00001',
  );
}

/** Bits of a weight, scales included, by the type in a file's name such as `model-Q4_K_M.gguf`; undefined where none is there. */
export function bitsInName(name: string): number | undefined {
  const [, quantized, float] =
    /[-.]I?(?:Q(\d)_\w+|B?F(16|32))\.gguf$/i.exec(name.replace(PART, '.gguf')) ?? [];
  if (quantized) return Number(quantized) + 0.5;
  return float === undefined ? undefined : Number(float);
}

function ofType(models: readonly string[], wanted: string): readonly string[] {
  if (models.includes(wanted)) return [wanted];
  const isTyped = (name: string): boolean =>
    ['-', '.'].some((mark) =>
      name.replace(PART, '.gguf').toLowerCase().endsWith(`${mark}${wanted}.gguf`.toLowerCase()),
    );
  return models.filter(isTyped);
}

function only(models: readonly string[], matches: readonly string[], wanted: string): string {
  const [match, ...others] = matches;
  if (match === undefined || others.length > 0)
    throw ggufUnclear(wanted, matches.length > 0 ? matches : models);
  return match;
}

/** @returns The names of all parts, of a split file; else the name alone. */
export function partsOf(name: string): readonly string[] {
  const numParts = Number(PART.exec(name)?.[2] ?? 1);
  if (numParts > MOST_PARTS)
    throw modelFileMissing(name, `it is one of ${numParts} parts, of at most ${MOST_PARTS}`);
  if (numParts === 1) return [name];
  return Array.from({ length: numParts }, (_, i) =>
    name.replace(/-\d{5}-of-/, `-${String(i + 1).padStart(5, '0')}-of-`),
  );
}

const MOST_PARTS = 1000;
