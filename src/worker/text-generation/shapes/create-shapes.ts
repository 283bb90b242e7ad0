import type { ResponseFormat } from '../../../batching/options/response-format.ts';
import type { TokenConstraint } from '../../../batching/generation/request.ts';
import type { Tokenizer } from '../../models/tokenizer/tokenizer.ts';
import { ShapeCompiler } from './shape-compiler.ts';
import { ShapeMatcher } from './shape-matcher.ts';
import type { ShapedModel } from './token-trie.ts';

/** One for each tokenizer: it has the vocabulary as a trie. */
const compilers = new WeakMap<Tokenizer, Promise<ShapeCompiler>>();

/**
 * Constraints that follow a shape.
 *
 * @param priors The tokens that each has accepted already.
 * @throws ResponseFormatUnsupportedError.
 */
export async function createShapes(
  format: ResponseFormat,
  model: ShapedModel,
  priors: readonly (readonly number[])[],
): Promise<readonly TokenConstraint[]> {
  const compiler = await compilerOf(model);
  const shape = await compiler.compile(format);
  return Promise.all(priors.map((prior) => ShapeMatcher.create(shape, model, format, prior)));
}

/** A failure isn't kept: the next request tries again. */
async function compilerOf(model: ShapedModel): Promise<ShapeCompiler> {
  const { tokenizer } = model;
  const creating = compilers.get(tokenizer) ?? ShapeCompiler.create(model);
  compilers.set(tokenizer, creating);
  try {
    return await creating;
  } catch (error) {
    compilers.delete(tokenizer);
    throw error;
  }
}
