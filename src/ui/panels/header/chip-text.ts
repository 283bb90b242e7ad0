import type { BackendInfo, ModelInfo, ModelLoad, TabserveStatus } from '../../../client/index.ts';
import { countOf, formatCompact } from '../../parts/format.ts';
import { BACKENDS, describePhase, isLoading } from './describe-state.ts';

/** A piece of the chip's text, with the space before it. */
interface ChipPart {
  readonly text: string;
  /** Left out on a phone. */
  readonly isExtra?: boolean;
}

/** The model and how it runs, in one line; while it loads, how far it is. The first piece may be cut short. */
export function describeChip(status: TabserveStatus): readonly ChipPart[] {
  const { state, model, load, loadFailure } = status;
  if (state === 'failed') return [{ text: 'Failed' }, extra(' to start')];
  if (state === 'closed') return [{ text: 'Closed' }, extra(': reload the page')];
  if (isLoading(state) || !model) return describeStart(status);
  const name = { text: shortName(model.id) };
  if (load) return [{ text: `Loading ${shortName(load.id)}` }, ...progressOf(load)];
  if (loadFailure?.id) return [name, extra(` · couldn’t load ${shortName(loadFailure.id)}`)];
  return [name, extra(describeFacts(status, model))];
}

export function textOf(parts: readonly ChipPart[]): string {
  return parts.map(({ text }) => text).join('');
}

function describeStart(status: TabserveStatus): readonly ChipPart[] {
  const { progress, recovery, isHandover } = status;
  if (recovery || isHandover) {
    const phase = describePhase(status);
    return [
      { text: recovery ? 'Recovering…' : 'Handing over…' },
      extra(` ${phase.toLowerCase()}`),
      ...(progress ? progressOf(progress) : []),
    ];
  }
  const [verb = '', ...object] = describePhase(status).split(' ');
  return [
    { text: verb },
    ...(object.length > 0 ? [extra(` ${object.join(' ')}`)] : []),
    ...(progress ? progressOf(progress) : []),
  ];
}

/** `40 %` of bytes, `12/40` of steps; nothing while the total is unknown. */
function progressOf({ phase, loaded, total }: Pick<ModelLoad, 'phase' | 'loaded' | 'total'>): ChipPart[] {
  if (total === 0) return [];
  const isCounted = phase === 'compile' || phase === 'drain';
  return [{ text: isCounted ? ` ${loaded}/${total}` : ` ${Math.floor((100 * loaded) / total)} %` }];
}

function describeFacts(
  { backend, numTabs, recovery, isEjected }: TabserveStatus,
  { numParameters }: ModelInfo,
): string {
  const size = numParameters > 0 ? ` ${formatCompact(numParameters)}` : '';
  const place = isEjected ? ' · ejected' : backend ? ` · ${placeOf(backend)}` : '';
  const blame = recovery?.kind === 'wrong-values' ? ': the GPU computes wrong values' : '';
  return `${size}${place}${blame} · ${countOf(numTabs, 'tab')}`;
}

function placeOf({ name, precision, adapter }: BackendInfo): string {
  if (name === 'wasm') return adapter;
  const { title } = BACKENDS[name];
  return name === 'server' ? title : `${title} ${precision}`;
}

/** Without the owner on the hub. */
export function shortName(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

function extra(text: string): ChipPart {
  return { text, isExtra: true };
}
