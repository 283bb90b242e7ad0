import type { Dtype } from '../../src/protocol/models.ts';
import type { RecordedGroup } from './record.ts';

export interface BenchCase {
  readonly summary: string;
  /** Interleaved rounds, unless `--rounds` says otherwise. */
  readonly rounds: number;
  /** The values that options of this name may have; the first is the default. The other options are refused. */
  readonly choices?: Choices;
  /** Whether `--beside COMMIT` measures another version of the page too. */
  readonly hasVersions?: true;
  /** Opens what is measured and passes it to `measure`. Closes it after that. */
  run(chosen: Chosen, measure: Measure): Promise<void>;
}

export interface Choices {
  readonly backend?: readonly BackendName[];
  readonly model?: readonly string[];
  readonly precision?: readonly Dtype[];
}

export type BackendName = 'wasm' | 'webgpu';

export interface Chosen {
  /** Few and small measurements, to see that the case works. */
  readonly isShort: boolean;
  readonly rounds: number;
  readonly backend: BackendName;
  /** Empty if the case has one model only. */
  readonly model: string;
  readonly precision: Dtype;
  /** Measures only rows whose caption and labels contain this text. */
  readonly only: string | undefined;
  readonly beside: string | undefined;
  readonly browserArgs: readonly string[];
}

export type Measure = (setup: Setup) => Promise<void>;

export interface Setup {
  /** A run replaces the record of its key. */
  readonly key: string;
  /** Name and version, as the browser reports them. */
  readonly browser: string;
  readonly model?: string;
  readonly adapter?: string;
  readonly versions?: string;
  /** What all tables have in common. */
  readonly note: string;
  readonly groups: readonly Group[];
  /** A software adapter's rates are no GPU's, and aren't recorded. */
  readonly isSoftware?: boolean;
  /** Returns the limits that the figures break: the command fails on any. */
  readonly check?: (groups: readonly RecordedGroup[]) => readonly string[];
}

/** Subjects that are compared: a table. */
export interface Group extends Pick<RecordedGroup, 'caption' | 'labels' | 'columns'> {
  readonly ratio?: Ratio;
  readonly subjects: readonly Subject[];
}

/** Compares each subject with its base in the same round. */
export interface Ratio {
  readonly header: string;
  readonly column: string;
  /** Divides the base's value by the subject's. */
  readonly isBaseOver?: true;
}

/** A row of a table. */
export interface Subject {
  readonly labels: readonly string[];
  readonly leftOut?: string;
  /** Its failure is a result. Any other subject's ends the command. */
  readonly mayFail?: true;
  /** The group's first subject if left out. */
  readonly base?: Subject | 'none';
  readonly warmUp?: () => Promise<unknown>;
  readonly measure: () => Promise<Samples>;
}

export type Samples = Readonly<Record<string, number | readonly number[]>>;
