/** The part that the page uses. The types of DefinitelyTyped would bring those of Node into the page. */
declare module 'papaparse' {
  interface Result {
    readonly data: readonly (readonly string[])[];
    readonly errors: readonly { readonly code: string; readonly message: string; readonly row?: number }[];
    /** `cursor` is the length of the text that the rows take. */
    readonly meta: { readonly cursor: number; readonly delimiter: string };
  }

  interface Papa {
    /** Guesses the delimiter. */
    parse(text: string, config: { readonly preview: number; readonly skipEmptyLines?: boolean }): Result;
    readonly Parser: new (config: { readonly delimiter: string; readonly newline: string }) => {
      parse(text: string, baseIndex: number, ignoreLastRow: boolean): Result;
    };
  }

  const papa: Papa;
  export default papa;
}
