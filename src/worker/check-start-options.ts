import { resolveBatchOptions } from '../batching/batch/batch-options.ts';
import { InvalidOptionError, shown } from '../batching/base/errors.ts';
import { unknownOption } from '../batching/base/unknown-option-error.ts';
import { isRecord } from '../platform/is-record.ts';
import type { AnyDeployment } from '../protocol/deployment.ts';
import { EMBEDDER, RERANKER } from '../protocol/embedding.ts';
import { TEXT_GENERATOR } from '../protocol/generation.ts';
import { MAX_NAME_LENGTH } from '../protocol/wire.ts';
import type { StartWorkerOptions } from './start-options.ts';

const OPTIONS = [
  'deployments',
  'runtimeUrl',
  'prepare',
] as const satisfies readonly (keyof StartWorkerOptions)[];
const PARTS = [
  'name',
  'checkInput',
  'batchOptions',
  'handler',
] as const satisfies readonly (keyof AnyDeployment)[];

/** Every worker has deployments of these names. */
const TAKEN: ReadonlySet<unknown> = new Set([TEXT_GENERATOR, EMBEDDER, RERANKER]);

/** Checks the options of `startWorker`. @throws InvalidOptionError, UnknownOptionError. */
export function checkStartOptions(options: unknown): void {
  if (!isRecord(options)) throw InvalidOptionError.of('options', 'an object', options);
  checkNames('', options, OPTIONS);
  const { deployments, runtimeUrl, prepare } = options;
  if (runtimeUrl !== undefined && !isAddress(runtimeUrl))
    throw InvalidOptionError.of('runtimeUrl', 'the address of a folder', runtimeUrl);
  if (prepare !== undefined) checkFunction('prepare', prepare);
  if (deployments !== undefined) checkDeployments(deployments);
}

function checkDeployments(deployments: unknown): void {
  if (!Array.isArray(deployments))
    throw InvalidOptionError.of('deployments', 'a list of deployments', deployments);
  const names = new Set<unknown>();
  for (const [index, deployment] of deployments.entries()) {
    const place = `deployments[${index}]`;
    const name = checkDeployment(place, deployment);
    if (names.has(name))
      throw InvalidOptionError.of(
        `${place}.name`,
        'another name than those of the deployments before it',
        name,
      );
    names.add(name);
  }
}

/** Returns its name. */
function checkDeployment(place: string, deployment: unknown): string {
  if (!isRecord(deployment))
    throw InvalidOptionError.of(place, 'a deployment, as defineDeployment() makes it', deployment);
  // An instance of a class may have fields of its own.
  if (Object.getPrototypeOf(deployment) === Object.prototype) checkNames(`${place}.`, deployment, PARTS);
  const { name, checkInput, handler, batchOptions = {} } = deployment;
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH)
    throw InvalidOptionError.of(`${place}.name`, `a name of 1 to ${MAX_NAME_LENGTH} characters`, name);
  if (TAKEN.has(name))
    throw InvalidOptionError.of(`${place}.name`, 'another name than those that every worker serves', name);
  checkFunction(`${place}.checkInput`, checkInput);
  checkFunction(`${place}.handler`, handler);
  if (!isRecord(batchOptions))
    throw InvalidOptionError.of(`${place}.batchOptions`, 'an object', batchOptions);
  checkBatchOptions(place, batchOptions);
  return name;
}

function checkBatchOptions(place: string, batchOptions: object): void {
  try {
    resolveBatchOptions(batchOptions);
  } catch (error) {
    const reason = error instanceof Error ? error.message : shown(error);
    throw new InvalidOptionError(`\`${place}.batchOptions\`: ${reason}`, 'deployments');
  }
}

function checkNames(place: string, given: object, known: readonly string[]): void {
  for (const name of Object.keys(given)) if (!known.includes(name)) throw unknownOption(place + name, known);
}

function checkFunction(place: string, value: unknown): void {
  if (typeof value !== 'function') throw InvalidOptionError.of(place, 'a function', value);
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value, self.location.href);
}
