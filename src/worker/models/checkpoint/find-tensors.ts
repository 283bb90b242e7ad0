import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import type { Model } from '../family.ts';
import { listSources, type ModelTensor, type TensorSource } from '../program/model-config.ts';
import type { CheckpointFiles, RandomAccessFile } from '../formats/checkpoint-files.ts';
import type { Checkpoint, CheckpointTensor } from './checkpoint.ts';
import { isWeightDtype } from '../formats/float-formats.ts';
import type { TensorView } from '../formats/safetensors.ts';

/** A weight file and what its header lists. */
export interface IndexedFile {
  readonly file: RandomAccessFile;
  readonly tensors: ReadonlyMap<string, TensorView>;
}

/** The files of a checkpoint, or those that stand for them. */
export interface CheckpointSource extends CheckpointFiles {
  /** The weights and their tensors, where no safetensors files hold them. */
  readonly weights?: readonly IndexedFile[];
}

type FoundTensor = TensorView & Pick<CheckpointTensor, 'file'>;

/**
 * Finds every tensor of the forward pass, or the parts that make it up, and checks their shapes and dtypes.
 *
 * @param listing The file that an error names where a tensor is in none of several files.
 * @throws ModelFileCorruptError where a tensor is missing or has another shape.
 * @throws UnsupportedModelError where it is stored in another dtype than weights are, or where the embedding is the head too and
 *   the checkpoint has another one.
 */
export function findTensors(
  files: readonly IndexedFile[],
  model: Pick<Model, 'program' | 'tensorPrefix'>,
  listing: string,
): Checkpoint['tensors'] {
  const all = new Map<string, FoundTensor>();
  for (const { file, tensors } of files) {
    for (const [name, view] of tensors) all.set(withoutPrefix(name, model), { ...view, file });
  }
  const [first, ...others] = files;
  const listed = first && others.length === 0 ? first.file.name : listing;
  const sourcesOf = (tensor: ModelTensor): readonly CheckpointTensor[] =>
    listSources(tensor).map((source) => requireTensor(all, source, listed));
  const found = new Map(model.program.weights.map((tensor) => [tensor.name, sourcesOf(tensor)]));
  const head = model.program.ops.find(({ kind }) => kind === 'head')?.weights[0];
  const ownHead = [...all].find(([name]) => OWN_HEAD.test(name))?.[1];
  if (head?.role !== 'embedding' || !ownHead) return found;
  const tied = requireTensor(all, head, listed);
  if (ownHead.dtype === tied.dtype && ownHead.shape.join() === tied.shape.join())
    return found.set(head.name, [{ ...tied, ownHead }]);
  throw UnsupportedModelError.of(
    `${ownHead.file.name} has lm_head.weight in another form than ${head.name}, but config.json ties them: set tie_word_embeddings, or LFM2's tie_embedding, to false there`,
  );
}

/** Models of text and pictures have a prefix of their own before it. */
const OWN_HEAD = /(^|\.)lm_head\.weight$/;

/**
 * For weights that hold no more than the forward pass: a tensor that it leaves out would change what the model computes.
 *
 * @throws UnsupportedModelError with the tensor's name.
 */
export function refuseUnread(
  files: readonly IndexedFile[],
  model: Pick<Model, 'program' | 'tensorPrefix'>,
): void {
  const read = new Set(
    model.program.weights.flatMap((tensor) => listSources(tensor).map(({ name }) => name)),
  );
  for (const { file, tensors } of files) {
    const name = [...tensors.keys()].find((given) => !read.has(withoutPrefix(given, model)));
    if (name !== undefined)
      throw UnsupportedModelError.of(`${file.name} has tensor ${name}, which Tabserve does not compute with`);
  }
}

function requireTensor(
  all: ReadonlyMap<string, FoundTensor>,
  { name, shape }: TensorSource,
  listed: string,
): CheckpointTensor {
  const tensor = all.get(name);
  if (!tensor) throw ModelFileCorruptError.of(listed, `tensor ${name} is missing`);
  if (tensor.shape.join() !== shape.join()) {
    throw ModelFileCorruptError.of(
      tensor.file.name,
      `tensor ${name} has shape [${tensor.shape.join(', ')}], but config.json asks for [${shape.join(', ')}]`,
    );
  }
  const { dtype } = tensor;
  if (isWeightDtype(dtype)) return { ...tensor, name, dtype };
  throw UnsupportedModelError.of(`tensor ${name} is stored as ${dtype}, not as F32, F16 or BF16`);
}

export function withoutPrefix(name: string, { tensorPrefix }: Pick<Model, 'tensorPrefix'>): string {
  return name.startsWith(tensorPrefix) ? name.slice(tensorPrefix.length) : name;
}
