import { EventHandler } from './event-handler.ts';
import { LanguageModel, type Parts } from './language-model.ts';
import type { LanguageModelPrompt, LanguageModelPromptOptions } from './types.ts';

/** A session with the members that the specification reserves for browser extensions. */
export class LegacyLanguageModel extends LanguageModel {
  readonly #parameters: Parts['parameters'] | undefined;
  readonly #overflow = new EventHandler(this, 'quotaoverflow');

  constructor(parts?: Parts) {
    super(parts);
    this.#parameters = parts?.parameters;
    this.addEventListener('contextoverflow', () => this.dispatchEvent(new Event('quotaoverflow')));
  }

  get topK(): number | undefined {
    return this.#parameters?.topK;
  }

  get temperature(): number | undefined {
    return this.#parameters?.temperature;
  }

  get inputUsage(): number {
    return this.contextUsage;
  }

  get inputQuota(): number {
    return this.contextWindow;
  }

  get onquotaoverflow(): EventHandler['handler'] {
    return this.#overflow.handler;
  }

  set onquotaoverflow(handler: EventHandler['handler']) {
    this.#overflow.handler = handler;
  }

  measureInputUsage(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<number> {
    return this.measureContextUsage(input, options);
  }
}
