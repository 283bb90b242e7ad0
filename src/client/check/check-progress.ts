import type { BackendInfo, ModelInfo } from '../../protocol/models.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import type { Verdict } from './compare-texts.ts';
import { describeCheck, summaryOf, TITLES } from './describe-check.ts';
import type { CheckedBackend, CheckLine, CheckName, CheckReport } from './types.ts';

const NAMES: readonly CheckName[] = ['together', 'handover', 'shapes', 'values', 'tokens'];

type Figures = Partial<Pick<CheckedBackend, 'rates' | 'longestPauseMs' | 'bytesPerSecond'>>;

/** The report as it grows. */
export class CheckProgress {
  readonly #model: CheckReport['model'];
  readonly #onProgress: (report: CheckReport) => void;
  readonly #lines = new Map<CheckName, CheckLine>();
  readonly #backends = new Map<BackendInfo['name'], CheckedBackend>();
  #step = '';

  constructor(model: ModelInfo | undefined, onProgress: (report: CheckReport) => void = () => {}) {
    const { numParameters, numLayers } = model ?? { numParameters: 0, numLayers: 0 };
    this.#model = { numParameters, numLayers };
    this.#onProgress = onProgress;
    for (const name of NAMES)
      this.#lines.set(name, { name, title: TITLES[name], outcome: 'waiting', detail: '' });
    this.#tell();
  }

  begin(name: CheckName): void {
    this.#step = '';
    this.#lines.set(name, { name, title: TITLES[name], outcome: 'running', detail: '' });
    this.#tell();
  }

  judge(name: CheckName, verdict: Verdict): void {
    this.#lines.set(name, { name, title: TITLES[name], ...verdict });
    this.#tell();
  }

  /** @param step In words. */
  say(step: string): void {
    this.#step = step;
    this.#tell();
  }

  measured({ name, rung, precision, adapter }: BackendInfo, figures: Figures): void {
    const before = this.#backends.get(name) ?? { rates: [] };
    const backend = { name, ...(rung && { rung }), precision, adapter };
    this.#backends.set(name, { ...before, ...backend, ...figures });
    this.#tell();
  }

  /** Unless the line is done: it was not run, because of this. */
  skip(name: CheckName, why: string): void {
    const line = this.#lines.get(name);
    if (line && !isDone(line)) this.judge(name, { outcome: 'not-run', detail: why });
  }

  /** @param why As of `skip`, of all lines. */
  end(why: string): CheckReport {
    this.#step = '';
    for (const name of NAMES) this.skip(name, why);
    return this.#tell();
  }

  #tell(): CheckReport {
    const lines = [...this.#lines.values()];
    const backends = [...this.#backends.values()];
    const report = {
      summary: summaryOf({ lines, backends }),
      isOver: lines.every(isDone),
      lines,
      backends,
      step: this.#step,
      userAgent: navigator.userAgent,
      numCores: navigator.hardwareConcurrency,
      model: this.#model,
      protocolVersion: PROTOCOL_VERSION,
    };
    const told = { text: describeCheck(report), ...report };
    this.#onProgress(told);
    return told;
  }
}

function isDone({ outcome }: CheckLine): boolean {
  return outcome !== 'waiting' && outcome !== 'running';
}
