import { createStore, type StoreApi } from 'zustand/vanilla';
import {
  missingColumn,
  type CreateJobOptions,
  type GenerationOptions,
  type Job,
  type OptionName,
  type TabserveClient,
  type WireError,
  writeCells,
} from '../../../client/index.ts';
import {
  EMPTY_GENERATION_TEXTS,
  errorOfOptions,
  type GenerationErrors,
  type GenerationTexts,
  type OptionsForm,
  GENERATION_FIELDS,
} from '../../state/generation-fields.ts';
import { parseGeneration, UNTOUCHED_OPTIONS, withOption } from '../../state/typed-options.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import { withPermalink, type Permalink } from '../../state/permalink.ts';
import { writeShape } from '../../state/typed-shape.ts';
import type { OpenedFile } from './files/open-file.ts';
import { textColumnOf, type ReadyTemplate } from './ready-templates.ts';
import { UNREADABLE, type FileRow } from './files/file-row.ts';

export interface JobFormView {
  readonly file?: OpenedFile | undefined;
  /** Rows that are counted so far. */
  readonly numRows: number;
  readonly isCounting: boolean;
  /** Those of them that can't be read. */
  readonly numUnreadable: number;
  /** Why the first of those can't. */
  readonly rowError?: WireError | undefined;
  readonly fileError?: WireError | undefined;
  readonly task: 'generate' | 'embed';
  readonly template: string;
  /** For models that chat. */
  readonly system: string;
  readonly texts: GenerationTexts;
  readonly optionErrors: GenerationErrors;
  /** Why the job was not created. */
  readonly error?: WireError | undefined;
  /** Rows of the new job that are stored, while it is created. */
  readonly numStored?: number | undefined;
}

/** Between two counts that are shown, ms. */
const COUNT_INTERVAL_MS = 100;

/** Holds a job that is being prepared. */
export class JobForm implements OptionsForm {
  readonly store: StoreApi<JobFormView>;
  readonly #serve: TabserveClient;
  #storing: AbortController | undefined;
  /** Counts the files that were chosen: the last one counts, however long it takes to open. */
  #numChosen = 0;

  /** @param link Of the page’s address: prompts and options of another’s job. */
  constructor(serve: TabserveClient, { template, system = '', texts }: Permalink) {
    this.#serve = serve;
    const isLinked = template !== undefined;
    this.store = createStore<JobFormView>(() => ({
      numRows: 0,
      isCounting: false,
      numUnreadable: 0,
      task: 'generate',
      template: template ?? '',
      system,
      texts: isLinked ? texts : EMPTY_GENERATION_TEXTS,
      optionErrors: {},
    }));
  }

  /** An address that brings prompts and options back, without the file. */
  linkFrom(href: string): string {
    const { template, system, texts } = this.store.getState();
    const model = this.#serve.status().model?.id;
    return withPermalink(href, { template, system: system || undefined, texts, model });
  }

  /** Any later change of the form takes its error away. */
  change(change: Partial<Pick<JobFormView, 'task' | 'template' | 'system'>>): void {
    this.store.setState({ ...change, error: undefined });
  }

  async choose(file: File): Promise<void> {
    this.#numChosen += 1;
    const chosen = this.#numChosen;
    try {
      // The parsers are loaded with the first file.
      const { openFile } = await import('./files/open-file.ts');
      const opened = await openFile(file);
      if (chosen !== this.#numChosen) return;
      const { template } = this.store.getState();
      // A prompt that was written stays: its field names a column that is missing.
      const isColumn = /^\{\{[^}]*\}\}$/.test(template);
      const isReplaced =
        template === '' || (isColumn && missingColumn(template, opened.columns) !== undefined);
      this.store.setState({
        file: opened,
        numRows: 0,
        isCounting: true,
        numUnreadable: 0,
        rowError: undefined,
        fileError: undefined,
        error: undefined,
        template: isReplaced ? `{{${textColumnOf(opened.head)}}}` : template,
      });
      await this.#count(opened);
    } catch (caught) {
      if (chosen === this.#numChosen)
        this.store.setState({ file: undefined, fileError: toWireError(caught) });
    }
  }

  /** Rows that can’t be read are rows, too. A piece of the file is read at a time, so the page goes on meanwhile. */
  async #count(file: OpenedFile): Promise<void> {
    const isShown = (): boolean => this.store.getState().file === file;
    let [numRows, numUnreadable] = [0, 0];
    let rowError: WireError | undefined;
    let shownAtMs = performance.now();
    for await (const row of file.rows()) {
      numRows += 1;
      if ('error' in row) {
        numUnreadable += 1;
        rowError ??= row.error;
      }
      if (performance.now() - shownAtMs < COUNT_INTERVAL_MS) continue;
      if (!isShown()) return;
      shownAtMs = performance.now();
      this.store.setState({ numRows, numUnreadable, rowError });
    }
    if (isShown()) this.store.setState({ numRows, numUnreadable, rowError, isCounting: false });
  }

  take({ system, templateFor, shape }: ReadyTemplate): void {
    const { file } = this.store.getState();
    this.change({ task: 'generate', system, template: templateFor(textColumnOf(file?.head ?? [])) });
    this.changeOption('responseFormat', writeShape(shape));
  }

  changeOption(name: OptionName, text: string): void {
    this.store.setState((view) => withOption(view, name, text));
  }

  resetOptions(): void {
    this.store.setState(UNTOUCHED_OPTIONS);
  }

  checkOptions(): void {
    this.store.setState(({ texts }) => ({ optionErrors: parseGeneration(texts).errors }));
  }

  /** The options of each row; undefined where a field has an error, which the form then shows. */
  readOptions(): GenerationOptions | undefined {
    const { options, errors } = parseGeneration(this.store.getState().texts);
    const error = errorOfOptions(errors, '');
    this.store.setState({ optionErrors: errors, error });
    const { logprobs: _, ...others } = options;
    // The table shows how likely a choice is. It has no place for tokens, which take ten times an answer's room.
    const isChoice = options.responseFormat?.type === 'choice';
    // Few servers name the tokens that this takes, and the others refuse the job.
    const isServer = this.#serve.status().backend?.name === 'server';
    return error
      ? undefined
      : { maxNewTokens: MAX_NEW_TOKENS, ...others, ...(isChoice && !isServer && { logprobs: true }) };
  }

  /** The system message, where the model takes one. */
  get system(): string | undefined {
    const { system } = this.store.getState();
    return system !== '' && this.#serve.status().model?.hasChatTemplate ? system : undefined;
  }

  /** Stores the rows and starts the job; undefined where it was refused, and the form says why. */
  async run(): Promise<Job | undefined> {
    const { file } = this.store.getState();
    const options = file && this.#optionsFor(file);
    if (!options) return undefined;
    this.#storing = new AbortController();
    this.store.setState({ numStored: 0 });
    try {
      return await this.#serve.jobs.create({
        ...options,
        name: file.name,
        signal: this.#storing.signal,
        onStored: (numStored) => this.store.setState({ numStored }),
      });
    } catch (caught) {
      if (!this.#storing.signal.aborted) this.store.setState({ error: toWireError(caught) });
      return undefined;
    } finally {
      this.store.setState({ numStored: undefined });
    }
  }

  /** Ends the storing of rows. */
  stop(): void {
    this.#storing?.abort();
  }

  #optionsFor({ isBatch, rows }: OpenedFile): CreateJobOptions | undefined {
    if (isBatch) return { requests: toRequests(rows()) };
    const { task, template } = this.store.getState();
    if (task === 'embed') return { rows: toRecords(rows()), template, deployment: 'embedder' };
    const options = this.readOptions();
    if (!options) return undefined;
    const { seed, ...others } = options;
    return { rows: toRecords(rows()), template, system: this.system, seed, options: others };
  }
}

/**
 * The rows of a table. A row that can’t be read has its reason in place of the columns, so the job marks it. The first good row names
 * the columns, so it comes before those.
 */
export async function* toRecords(rows: AsyncIterable<FileRow>): AsyncGenerator<string> {
  let early: string[] | undefined = [];
  for await (const row of rows) {
    const json = 'json' in row ? row.json : unreadable(row);
    if (!early) yield json;
    else if ('json' in row) {
      yield json;
      yield* early;
      early = undefined;
    } else early.push(json);
  }
}

/** The name of the column names the line, because the job's error has the name alone. */
function unreadable({ line, error }: Extract<FileRow, { error: WireError }>): string {
  return writeCells([[`${UNREADABLE}${line}`, JSON.stringify(error.message)]]);
}

/** The lines of a batch. The job checks each, and marks those of another shape. */
async function* toRequests(rows: AsyncIterable<FileRow>): AsyncGenerator<string> {
  for await (const row of rows) yield 'json' in row ? row.json : unreadable(row);
}

/** Without those that a row of a job has no place for, and without its shape, which has a field of its own. */
export const JOB_FIELDS = GENERATION_FIELDS.filter(
  ({ name }) => !['n', 'logprobs', 'responseFormat'].includes(name),
);

/** Room for the JSON of an answer. */
const MAX_NEW_TOKENS = 256;

/** The values in force while the fields are empty, where they aren’t the model’s own. */
export const JOB_DEFAULTS: GenerationTexts = { maxNewTokens: String(MAX_NEW_TOKENS) };
