/** What the command line asks for; for anything else it says what is wrong and how it is used, and the process fails. */
export function readOptions<Options>(
  parse: (args: readonly string[]) => Options,
  usage: string,
): Options | undefined {
  try {
    return parse(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exitCode = 1;
    return undefined;
  }
}
