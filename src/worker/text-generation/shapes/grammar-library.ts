import type * as Module from '@mlc-ai/web-xgrammar';

import { importPart } from '../../import-part.ts';

type Library = Pick<typeof Module, 'Grammar' | 'GrammarCompiler' | 'GrammarMatcher' | 'TokenizerInfo'>;

/** The grammar library with the reasons that it gives for refusing a grammar. */
export interface GrammarLibrary {
  readonly library: Library;
  /**
   * Runs a call that may refuse its input.
   *
   * @throws Error with the library's reason.
   */
  explained<Result>(call: () => Promise<Result>): Promise<Result>;
}

let loading: Promise<GrammarLibrary> | undefined;

/** Loads the library, which has its WebAssembly in its script, when a shape is asked for at first. */
export async function loadGrammarLibrary(): Promise<GrammarLibrary> {
  try {
    return await (loading ??= load());
  } catch (error) {
    // The next request tries again: the network may be back by then.
    loading = undefined;
    throw error;
  }
}

async function load(): Promise<GrammarLibrary> {
  const { default: bundled }: { readonly default?: Library } = await importPart(
    () => import('@mlc-ai/web-xgrammar'),
  );
  const library = bundled ?? ofGlobal();
  const reasons: string[] = [];
  await capturingErrors(reasons, () => library.Grammar.builtinJSONGrammar());
  return {
    library,
    async explained(call) {
      reasons.length = 0;
      try {
        return await call();
      } catch (cause) {
        throw new Error(reasonOf(reasons) ?? String(cause), { cause });
      }
    },
  };
}

/** The script is in the format UMD: bundlers make a module of it, and without a bundler it sets a global. */
function ofGlobal(): Library {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script has just set it
  return (globalThis as unknown as { readonly xgrammar: Library }).xgrammar;
}

/** The library binds `console.error` once, when it starts, and tells its reasons nowhere else. */
async function capturingErrors(reasons: string[], start: () => Promise<unknown>): Promise<void> {
  const { error } = console;
  console.error = (...texts: readonly unknown[]) => void reasons.push(texts.join(' '));
  try {
    await start();
  } finally {
    console.error = error;
  }
}

/** `EBNF lexer error at line 1, column 12: …` of `[FATAL] /path/grammar_parser.cc:102: EBNF …` */
function reasonOf(reasons: readonly string[]): string | undefined {
  return reasons
    .find((text) => text.includes('[FATAL]'))
    ?.replace(/^.*\.(?:cc|h):\d+: /s, '')
    .trim();
}
