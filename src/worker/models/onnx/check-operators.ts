import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import type { Op, Program } from '../program/program.ts';

/** Operations that `writeGraph` has no operators for. */
const WITHOUT_OPERATORS: readonly Op['kind'][] = ['deltaRule'];

/** @throws UnsupportedModelError with the name of the operation. */
export function requireOperators({ ops }: Pick<Program, 'ops'>): void {
  const op = ops.find(({ kind }) => WITHOUT_OPERATORS.includes(kind));
  if (op) throw UnsupportedModelError.of(`the model's ${op.kind} operation doesn't run here yet`);
}
